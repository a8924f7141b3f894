#include "site.hpp"
#include "slurm/cluster.hpp"
#include "support/eventually.hpp"
#include "support/patience.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <signal.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::slurm {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class StepsTest : public SlurmTest {
 protected:
  static std::string queue(const std::string& states) {
    return cluster().ask({"squeue", "-h", "-r", "-t", states, "-o", "%A"});
  }
};

/// A batch step, one that runs here, and a batch step again, each of them after the one before.
constexpr const char* chain = R"(name: chain
outpath: runs
parameterset: {name: p, parameter: {n: [0, 1, 2]}}
step:
  - {name: first, use: p, batch: true, do: echo $n > number}
  - {name: here, depend: first, do: cp first/number number}
  - {name: last, depend: here, batch: true, do: 'cat here/number >> ../../../../witness'}
)";

TEST_F(StepsTest, AreSubmittedAsTheirParentsEnd) {
  const Site site(&cluster());
  write_file_atomically(site.home() / "chain.yaml", chain);
  const auto run = site.bench({"run", "chain.yaml", "--platform", "fx", "--wait"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_EQ(site.witness(), Site::each_once(3));
  EXPECT_THAT(site.programs().calls("sbatch"), SizeIs(AllOf(Ge(2U), Le(6U))));
}

TEST_F(StepsTest, GoOnWithEachContinue) {
  const Site site(&cluster());
  write_file_atomically(site.home() / "chain.yaml", chain);
  EXPECT_EQ(site.bench({"run", "chain.yaml", "--platform", "fx"}).status.code, 0);
  EXPECT_TRUE(support::eventually([&] {
    EXPECT_EQ(site.go_on().status.code, 0);
    return site.states() == site.all("done", 9);
  }));
  EXPECT_EQ(site.witness(), Site::each_once(3));
}

TEST_F(StepsTest, OnlyTheTasksThatFailedAreRepeated) {
  const Site site(&cluster());
  site.sweep(4, "test $n != 2 || test -e ../../../../again || { touch ../../../../again; exit 1; }",
             {"batch: true", "retry: {on: [failed], times: 1}"});
  const auto run = site.run({"--wait"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(site.outcomes(), ElementsAre("done", "done", "failed", "done", "done"));
  EXPECT_EQ(site.witness(), (std::map<std::string, int>{{"0", 1}, {"1", 1}, {"2", 2}, {"3", 1}}));
}

TEST_F(StepsTest, PacksShareAJobAndRunSideBySide) {
  const Site site(&cluster());
  // Each waits for the three others of its pack: one after the other they would wait for ever.
  site.sweep(8,
             "case $n in [0-3]) pack=a;; *) pack=b;; esac; touch ../../../../$n.$pack; "
             "while [ `ls ../../../../*.$pack | wc -l` != 4 ]; do sleep 0.1; done",
             {"batch: {pack: 4, time_limit: \"00:05:00\"}"});
  const auto run = site.run({"--wait"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_EQ(site.witness(), Site::each_once(8));
  std::set<std::string> jobs;
  for (const Attempt& attempt : site.attempts())
    jobs.insert(attempt.job_id);
  EXPECT_THAT(jobs, SizeIs(2));
}

TEST_F(StepsTest, EachOfAPackHasGpusOfItsOwn) {
  const Site site(&cluster());
  // Each waits for the three others: one that began after another's end could have that one's GPU.
  site.sweep(4,
             "echo $CUDA_VISIBLE_DEVICES >> ../../../../gpus; "
             "while [ `wc -l < ../../../../gpus` != 4 ]; do sleep 0.1; done",
             {"batch: {pack: 4, gpus_per_node: 1, time_limit: \"00:05:00\"}"});
  const auto run = site.run({"--wait"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(split_names(read_file(site.home() / "gpus"), "\n"),
              UnorderedElementsAre("0", "1", "2", "3"));
}

TEST_F(StepsTest, WhatBashReadsFirstIsNoOutput) {
  const Site site(&cluster());
  // In the job only: a `python3` that is a shell script may not bear it.
  write_file_atomically(site.home() / "settings.sh",
                        "test -z \"$SLURM_JOB_ID\" || echo hello\nexport SETTING=mine\n");
  site.sweep(1, "echo $SETTING");
  ProcessSpec spec = site.spec({"run", "sweep.yaml", "--platform", "fx", "--wait"});
  set_variable(*spec.environment, "BASH_ENV", (site.home() / "settings.sh").string());
  const auto run = run_command(spec, support::far_too_long_s);
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_EQ(read_file(site.workpackage(0) / "work" / "stdout"), "mine\n");
}

TEST_F(StepsTest, ATaskThatFailsEndsTheOthers) {
  const Site site(&cluster());
  site.sweep(1, "$jube_starter sh -c 'test $SLURM_PROCID = 1 || exit 3; sleep 300'",
             {"batch: {tasks_per_node: 2, time_limit: \"00:05:00\"}"});
  EXPECT_EQ(site.run({"--wait", "--launcher", "srun"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), ElementsAre("failed"));
}

TEST_F(StepsTest, HaveTheEnergyOfAllTheirPrograms) {
  const Site site(&cluster());
  write_file_atomically(site.home() / "energy.yaml", R"(name: energy
outpath: runs
step:
  name: go
  batch: {nodes: 2, tasks_per_node: 2, time_limit: "00:05:00"}
  energy: {methods: "mock:constant=100W", interval: 20ms}
  do: [$jube_starter sleep 0.3 | cat, $jube_starter sleep 0.2]
analyser: {name: output, analyse: {step: go, file: stdout}}
result: {use: output, table: {name: t, style: csv, column: [power_mean_w, duration_s]}}
)");
  const auto run = site.bench({"run", "energy.yaml", "--platform", "fx", "--wait", "--result"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(run.standard_output,
              testing::ContainsRegex("\n(99\\.9|100)[0-9.]*,(0\\.[5-9]|[1-9])[0-9.]*\n"));
}

TEST_F(StepsTest, OfAPackEachHasTheEnergyOfItsOwnGpus) {
  const Site site(&cluster());
  site.sweep(2, "sleep 0.3",
             {"batch: {pack: 2, gpus_per_node: 1, time_limit: \"00:05:00\"}",
              "energy: {methods: \"nvml,mock:constant=500W\", interval: 20ms}"});
  ProcessSpec spec = site.spec({"run", "sweep.yaml", "--platform", "fx", "--wait"});
  set_variable(*spec.environment, "LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY);
  set_variable(*spec.environment, "FAKE_NVML_DEVICES", "4");
  const auto run = run_command(spec, support::far_too_long_s);
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  std::set<std::string> gpus;
  for (const int id : {0, 1}) {
    const std::string energy = read_file(site.workpackage(id) / "work" / "energy.txt");
    EXPECT_THAT(energy, AllOf(HasSubstr("energy_source=nvml\n"), HasSubstr("energy_mock_")));
    for (const char* gpu : {"energy_nvml_0_gpu_wh", "energy_nvml_1_gpu_wh"})
      if (energy.find(gpu) != std::string::npos)
        gpus.insert(gpu);
  }
  EXPECT_THAT(gpus, SizeIs(2));
}

TEST_F(StepsTest, AFailureInAPackIsItsOwn) {
  const Site site(&cluster());
  site.sweep(3, "test $n != 1 || exit 3", {"batch: {pack: 3}"});
  EXPECT_EQ(site.run({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), ElementsAre("done", "failed", "done"));
}

TEST_F(StepsTest, AnInterruptLeavesTheJobs) {
  const Site site(&cluster());
  site.sweep(2, "while [ ! -e ../../../../go ]; do sleep 0.1; done");
  Process run = site.start({"run", "sweep.yaml", "--platform", "fx", "--wait"});
  ASSERT_TRUE(support::eventually([&] { return site.witness().size() == 2; }));
  ::kill(run.pid(), SIGINT);
  run.wait();
  EXPECT_THAT(split_names(queue("R"), "\n"), SizeIs(2));
  write_file_atomically(site.home() / "go", "");
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 0);
  EXPECT_EQ(site.witness(), Site::each_once(2));
}

TEST_F(StepsTest, AnInterruptCancelsTheJobsWhereThatIsWanted) {
  const Site site(&cluster());
  site.sweep(2, "sleep 300");
  Process run =
      site.start({"run", "sweep.yaml", "--platform", "fx", "--wait", "--cancel-on-interrupt"});
  ASSERT_TRUE(support::eventually([&] { return site.witness().size() == 2; }));
  ::kill(run.pid(), SIGINT);
  run.wait();
  EXPECT_TRUE(support::eventually([] { return queue("R,PD,CG").empty(); }));
  EXPECT_THAT(site.outcomes(), Each("cancelled"));
}

// The end of the first is known from its sentinel alone: squeue does not answer.
TEST(InterruptTest, LeavesWhatHasEndedToContinue) {
  const Site site(nullptr);
  site.sweep(2, "exit 1");
  site.programs().fates({"COMPLETED", "PENDING"});
  site.programs().mishap("squeue", {.error = "slurm_load_jobs error: no contact\n", .code = 1},
                         1000);
  Process run =
      site.start({"run", "sweep.yaml", "--platform", "fx", "--wait", "--cancel-on-interrupt"});
  ASSERT_TRUE(support::eventually([&] { return !site.programs().calls("squeue").empty(); }));
  ::kill(run.pid(), SIGINT);
  run.wait();
  EXPECT_EQ(site.states(), (std::map<std::string, int>{{"submitted", 1}, {"failed", 1}}));
  site.programs().recover("squeue");
  site.go_on({"--wait"});
  EXPECT_THAT(site.outcomes(), ElementsAre("failed", "cancelled"));
}

TEST_F(StepsTest, CancelEndsTheJobsOfARun) {
  const Site site(&cluster());
  site.sweep(2, "sleep 300");
  site.run();
  ASSERT_TRUE(support::eventually([&] { return site.witness().size() == 2; }));
  const auto cancel = site.bench({"cancel", "runs"});
  EXPECT_EQ(cancel.status.code, 0) << cancel.standard_error;
  EXPECT_TRUE(support::eventually([] { return queue("R,PD,CG").empty(); }));
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), Each("cancelled"));
}

TEST_F(StepsTest, CancelLeavesWhatHasEndedToContinue) {
  const Site site(&cluster());
  site.sweep(2, "test $n = 0 || sleep 300");
  site.run();
  ASSERT_TRUE(support::eventually([&] {
    return site.witness().size() == 2 && split_names(queue("R,PD,CG"), "\n").size() == 1;
  }));
  const auto ended = site.bench({"cancel", "runs", "-w", "0"});
  EXPECT_THAT(ended.standard_error,
              HasSubstr("workpackage 0 has no job in a batch system (state: ended, and not "
                        "collected yet)"));
  const auto cancel = site.bench({"cancel", "runs"});
  EXPECT_EQ(cancel.standard_output, "cancelled 1 job of run 0, with 1 workpackage\n");
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), ElementsAre("done", "cancelled"));
}

// A batch script of bench runs inside a job; what that job was given must not bind the new ones.
TEST_F(StepsTest, CanBeSubmittedFromWithinAJob) {
  const Site site(&cluster());
  site.sweep(1);
  ProcessSpec spec = site.spec({"run", "sweep.yaml", "--platform", "fx", "--wait"});
  std::string command = "exec";
  for (const std::string& word : spec.arguments)
    command += " '" + word + "'";
  spec.arguments = {"srun", "-p", "fx", "-n1", "-c2", "--mem=200M", "sh", "-c", command};
  const auto run = run_command(std::move(spec), support::far_too_long_s);
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_EQ(site.witness(), Site::each_once(1));
}

}  // namespace
}  // namespace bench::slurm
