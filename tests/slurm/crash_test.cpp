#include "site.hpp"
#include "slurm/cluster.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <signal.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>

namespace bench::slurm {
namespace {

using testing::Each;
using testing::HasSubstr;

class CrashTest : public SlurmTest {};

const std::string until_told = "while [ ! -e $jube_benchmark_home/go ]; do sleep 0.1; done";

// The controller forgets the last submissions, or starts jobs a second time that have run already.
TEST_F(CrashTest, OfTheControllerRightAfterSubmissionLosesAndRepeatsNothing) {
  Site site(&cluster());
  site.sweep(5, "sleep 0.2");
  site.run();
  cluster().stop_controller("KILL");
  cluster().start_controller();
  // What it forgot is `lost` and a matter of `retry`; without one it fails, and says so.
  site.go_on({"--wait"});
  for (const auto& [number, count] : site.witness())
    EXPECT_EQ(count, 1) << number;
  const auto outcomes = site.outcomes();
  EXPECT_EQ(static_cast<std::size_t>(std::count(outcomes.begin(), outcomes.end(), "done")),
            site.witness().size());
}

// A controller that comes back with an older state also takes jobs that it does not remember off
// their nodes: it starts them a second time, cancels them, or calls the node failed.
TEST_F(CrashTest, OfTheControllerIsHealedByARetryOfWhatIsLost) {
  Site site(&cluster());
  site.sweep(5, "sleep 0.2",
             {"batch: true", "retry: {on: [lost, node_fail, preempted, cancelled], times: 3}"});
  site.run();
  cluster().stop_controller("KILL");
  cluster().start_controller();
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 0);
  EXPECT_EQ(site.states(), site.all("done", 5))
      << site.bench({"info", "runs", "-i", "last"}).standard_output;
  EXPECT_EQ(site.witness(), Site::each_once(5));
}

TEST_F(CrashTest, OfTheControllerAfterAJobEndedDoesNotRunItTwice) {
  Site site(&cluster());
  site.sweep(2);
  EXPECT_EQ(site.run({"--wait"}).status.code, 0);
  cluster().stop_controller("KILL");
  cluster().start_controller();
  // Jobs of other tests, which the controller took back, may wait for long.
  EXPECT_TRUE(support::eventually([&] {
    return cluster()
               .ask({"squeue", "-h", "-t", "PD,R,CG", "-o", "%Z"})
               .find(site.home().lexically_normal().string()) == std::string::npos;
  }));
  EXPECT_EQ(site.witness(), Site::each_once(2));
  EXPECT_THAT(site.outcomes(), Each("done"));
}

TEST_F(CrashTest, AControllerThatIsAwayForAWhileIsWaitedFor) {
  Site site(&cluster());
  site.sweep(2, until_told);
  Process waiting = site.start({"run", "sweep.yaml", "--platform", "fx", "--wait"});
  ASSERT_TRUE(support::eventually([&] { return site.witness().size() == 2; }));
  cluster().stop_controller();
  const auto questions = [&] { return site.programs().calls("squeue").size(); };
  const std::size_t before = questions();
  EXPECT_TRUE(support::eventually([&] { return questions() >= before + 2; }))
      << "one was not answered, and bench asks again";
  cluster().start_controller();
  write_file_atomically(site.home() / "go", "");
  EXPECT_TRUE(waiting.wait().success());
  EXPECT_EQ(site.witness(), Site::each_once(2));
  EXPECT_THAT(site.outcomes(), Each("done"));
}

TEST_F(CrashTest, ASecondBenchIsRefusedAndToldWhoWorks) {
  Site site(&cluster());
  site.sweep(1, until_told);
  Process first = site.start({"run", "sweep.yaml", "--platform", "fx", "--wait"});
  ASSERT_TRUE(support::eventually([&] { return site.witness().size() == 1; }));
  const auto second = site.go_on();
  EXPECT_EQ(second.status.code, 1);
  EXPECT_THAT(second.standard_error, HasSubstr(std::to_string(first.pid())));
  EXPECT_EQ(site.bench({"status", "runs"}).status.code, 0);
  write_file_atomically(site.home() / "go", "");
  EXPECT_TRUE(first.wait().success());
}

struct Moment {
  std::string name;
  std::string program;
  bool after;
};
class MomentTest : public SlurmTest, public testing::WithParamInterface<Moment> {};

TEST_P(MomentTest, KilledBenchIsMadeGoodByContinue) {
  const Site site(&cluster());
  site.sweep(4, "sleep 0.5", {"batch: {threads_per_task: $threads}"});
  site.programs().mishap(GetParam().program, {.also = GetParam().after, .kill = true});
  EXPECT_EQ(site.run({"--wait"}).status.signal, SIGKILL);
  const auto again = site.go_on({"--wait"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_EQ(site.witness(), Site::each_once(4));
  EXPECT_EQ(site.states(), site.all("done", 4));
}

// Of two submissions: the first is killed, or the asking after both.
INSTANTIATE_TEST_SUITE_P(Slurm, MomentTest,
                         testing::Values(Moment{"BeforeASubmission", "sbatch", false},
                                         Moment{"BetweenASubmissionAndItsBookkeeping", "sbatch",
                                                true},
                                         Moment{"WhileItAsks", "squeue", false}),
                         [](const auto& one) { return one.param.name; });

/// How often bench is killed: few times in an ordinary run of the tests, BENCH_SLURM_KILLS times
/// in a thorough one.
int kills() {
  const char* wanted = std::getenv("BENCH_SLURM_KILLS");
  return wanted ? std::atoi(wanted) : 8;
}

constexpr int sweep_size = 12;
const std::vector<std::string> two_requests{"batch: {threads_per_task: $threads}"};

double seconds_to_submit(const Cluster& cluster) {
  Site site(&cluster);
  site.sweep(sweep_size, "exit 0", two_requests);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(site.run().status.code, 0);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void check_kill(const Cluster& cluster, double delay_s) {
  SCOPED_TRACE(testing::Message() << "killed after " << delay_s << " s");
  Site site(&cluster);
  site.sweep(sweep_size, "exit 0", two_requests);
  {
    Process run = site.start({"run", "sweep.yaml", "--platform", "fx", "--hide-animation"});
    std::this_thread::sleep_for(std::chrono::duration<double>(delay_s));
    ::kill(run.pid(), SIGKILL);  // not its sbatch, which goes on
    run.wait();
  }
  if (!site.has_run())
    return;  // killed before there was a run: nothing was submitted either
  const auto again = site.go_on({"--wait"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_EQ(site.witness(), Site::each_once(sweep_size));
  EXPECT_EQ(site.states(), site.all("done", sweep_size));
}

TEST_F(CrashTest, OfBenchAtAnyMomentOfSubmissionLosesAndRepeatsNothing) {
  const double whole_s = seconds_to_submit(cluster());
  std::mt19937 random(20261121);
  std::uniform_real_distribution<double> moment(0, 1.2 * whole_s);
  for (int k = 0; k < kills(); ++k)
    check_kill(cluster(), moment(random));
}

}  // namespace
}  // namespace bench::slurm
