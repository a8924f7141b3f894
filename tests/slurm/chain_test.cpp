#include "site.hpp"
#include "slurm/cluster.hpp"
#include "support/eventually.hpp"

#include <filesystem>
#include <map>
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
using testing::HasSubstr;
using testing::Not;

/// Three batch steps, one after the other. Each workpackage adds its step and `n` to `witness`;
/// `first` waits for the file `go` and then does `commands`.
class ChainTest : public SlurmTest {
 protected:
  static void write(const Site& site, const std::string& commands = "exit 0",
                    const std::string& attributes = "") {
    constexpr const char* head = R"(name: chain
outpath: runs
parameterset: {name: p, parameter: {n: [0, 1]}}
step:
  - {name: first, use: p, batch: true, )";
    constexpr const char* rest =
        R"(, do: ['echo first$n >> ../../../../witness', 'while [ ! -e ../../../../go ]; do sleep 0.1; done', ')";
    constexpr const char* tail = R"(']}
  - {name: second, depend: first, batch: true, do: 'echo second$n >> ../../../../witness; echo value=$n > file'}
  - {name: third, depend: second, batch: true, do: ['echo third$n >> ../../../../witness', cat second/file]}
patternset: {name: found, pattern: {name: value, type: int, _: value=$jube_pat_int}}
analyser: {name: a, use: found, analyse: {step: third, file: stdout}}
result: {use: a, table: {name: t, style: csv, sort: n, column: [n, value]}}
)";
    write_file_atomically(
        site.home() / "chain.yaml",
        head + (attributes.empty() ? "iterations: 1" : attributes) + rest + commands + tail);
  }

  static CommandOutput run(const Site& site, const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments{"run", "chain.yaml", "--platform", "fx", "--chain"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return site.bench(std::move(arguments));
  }

  static void let_go(const Site& site) { write_file_atomically(site.home() / "go", ""); }

  static std::map<std::string, int> once(const std::vector<std::string>& names) {
    std::map<std::string, int> counts;
    for (const std::string& name : names)
      counts[name] = 1;
    return counts;
  }
  static std::map<std::string, int> all_once() {
    return once({"first0", "first1", "second0", "second1", "third0", "third1"});
  }

  static std::string open_jobs(const Site& site) {
    const std::string home = site.home().lexically_normal().string();
    std::string jobs;
    for (const std::string& line :
         split_names(cluster().ask({"squeue", "-h", "-t", "PD,R,CG", "-o", "%A %r %Z"}), "\n"))
      if (line.find(home) != std::string::npos)
        jobs += line + "\n";
    return jobs;
  }
};

TEST_F(ChainTest, EndsWithoutABenchThatWaits) {
  const Site site(&cluster());
  write(site);
  const auto run = ChainTest::run(site);
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(run.standard_output,
              HasSubstr("6 jobs in the queue; collect them with `bench continue runs --id 0`"));
  EXPECT_EQ(site.states(), site.all("submitted", 6));
  let_go(site);
  EXPECT_TRUE(support::eventually([&] { return open_jobs(site).empty(); }));
  EXPECT_EQ(site.witness(), all_once()) << "and no bench has run since";
  const auto rest = site.go_on({"--result"});
  EXPECT_EQ(rest.status.code, 0) << rest.standard_error;
  EXPECT_THAT(rest.standard_output, HasSubstr("n,value\n0,0\n1,1\n"));
  EXPECT_EQ(site.states(), site.all("done", 6));
}

TEST_F(ChainTest, EachWaitsForTheJobOfItsOwnParent) {
  const Site site(&cluster());
  write(site);
  run(site);
  const std::string waits = cluster().ask({"squeue", "-h", "-r", "-o", "%A %E"});
  for (const Attempt& attempt : site.attempts())
    if (attempt.workpackage > 1) {
      EXPECT_THAT(waits, HasSubstr(attempt.job_id + " afterok:")) << attempt.workpackage;
    }
  const auto why = site.bench({"why", "runs", "2"});
  EXPECT_THAT(why.standard_output,
              HasSubstr("job " + site.attempts().at(0).job_id + ", if it ends well\n"));
  let_go(site);
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 0);
  EXPECT_EQ(site.witness(), all_once());
}

TEST_F(ChainTest, IsSkippedBehindAParentThatFails) {
  const Site site(&cluster());
  write(site, "test $n != 1 || test -e ../../../../good");
  run(site);
  let_go(site);
  const auto rest = site.go_on({"--wait"});
  EXPECT_EQ(rest.status.code, 1);
  EXPECT_EQ(site.states(),
            (std::map<std::string, int>{{"done", 3}, {"failed", 1}, {"skipped", 2}}));
  EXPECT_EQ(site.witness(), once({"first0", "first1", "second0", "third0"}));
  EXPECT_TRUE(support::eventually([&] { return open_jobs(site).empty(); }));
  EXPECT_THAT(site.bench({"why", "runs", "3"}).standard_output,
              HasSubstr("workpackage 1 (first), which it depends on, has failed\n"));
  EXPECT_THAT(site.bench({"why", "runs", "1"}).standard_output,
              HasSubstr("its workpackages of second are skipped\n"));

  write_file_atomically(site.home() / "good", "");
  const auto again = site.go_on({"--failed", "--wait"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_EQ(site.states(), site.all("done", 6));
  auto witness = all_once();
  witness["first1"] = 2;
  EXPECT_EQ(site.witness(), witness);
}

TEST_F(ChainTest, IsSubmittedAgainWithAParentThatIsRetried) {
  const Site site(&cluster());
  write(site, "test $n != 1 || test -e ../../../../again || { touch ../../../../again; exit 1; }",
        "retry: {on: [failed], times: 1}");
  run(site);
  let_go(site);
  ASSERT_TRUE(support::eventually([&] { return open_jobs(site).empty(); }));
  // Nobody waits for the second time either.
  EXPECT_EQ(site.go_on().status.code, 0);
  EXPECT_TRUE(support::eventually([&] { return open_jobs(site).empty(); }));
  const auto rest = site.go_on();
  EXPECT_EQ(rest.status.code, 0) << rest.standard_output << rest.standard_error;
  EXPECT_EQ(site.states(), site.all("done", 6));
  auto witness = all_once();
  witness["first1"] = 2;
  EXPECT_EQ(site.witness(), witness);
}

TEST_F(ChainTest, CancelledParentsAreFollowed) {
  const Site site(&cluster());
  write(site);
  run(site);
  EXPECT_EQ(site.bench({"cancel", "runs", "-s", "first"}).standard_output,
            "cancelled 6 jobs of run 0, with 2 workpackages and 4 that wait for them\n");
  EXPECT_EQ(site.states(), (std::map<std::string, int>{{"failed", 2}, {"skipped", 4}}));
  EXPECT_TRUE(support::eventually([&] { return open_jobs(site).empty(); }));
  const auto why = site.bench({"why", "runs", "4"});
  EXPECT_THAT(why.standard_output,
              HasSubstr("workpackage 2 (second), which it depends on, was skipped"));
}

TEST_F(ChainTest, WhatWasCancelledIsRepeatedWithWhatFollows) {
  const Site site(&cluster());
  write(site);
  run(site);
  site.bench({"cancel", "runs", "-s", "first"});
  let_go(site);
  const auto again = site.go_on({"--failed", "--wait"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_EQ(site.states(), site.all("done", 6));
}

// As where another bench has the lock of the run.
TEST_F(ChainTest, ABenchThatWaitsSeesWhatIsCancelled) {
  const Site site(&cluster());
  write(site);
  Process waiting = site.start({"run", "chain.yaml", "--platform", "fx", "--chain", "--wait"});
  ASSERT_TRUE(support::eventually([&] { return split_names(open_jobs(site), "\n").size() == 6; }));
  EXPECT_EQ(site.bench({"cancel", "runs", "-s", "first"}).status.code, 0);
  EXPECT_EQ(waiting.wait().code, 1);
  EXPECT_EQ(site.states(), (std::map<std::string, int>{{"failed", 2}, {"skipped", 4}}));
}

TEST_F(ChainTest, OneThatIsCancelledItselfHasFailed) {
  const Site site(&cluster());
  write(site);
  run(site);
  cluster().ask({"scancel", site.attempts().at(2).job_id});
  let_go(site);
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 1);
  EXPECT_EQ(site.states(),
            (std::map<std::string, int>{{"done", 4}, {"failed", 1}, {"skipped", 1}}));
}

TEST_F(ChainTest, AJobThatStartsBehindAFailureExecutesNothing) {
  const Site site(&cluster());
  write(site, "exit 1");
  run(site);
  // As if Slurm had lost the dependency with the record of the parent's job.
  cluster().ask({"scontrol", "update", "JobId=" + site.attempts().at(2).job_id, "Dependency="});
  let_go(site);
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 1);
  EXPECT_EQ(site.witness(), once({"first0", "first1"}));
  EXPECT_EQ(site.states(), (std::map<std::string, int>{{"failed", 2}, {"skipped", 4}}));
}

TEST_F(ChainTest, WhatCannotBeChainedFollowsWithContinue) {
  const Site site(&cluster());
  write_file_atomically(site.home() / "chain.yaml", R"(name: chain
outpath: runs
parameterset: {name: p, parameter: {name: size, mode: shell, _: cat $jube_benchmark_rundir/000000_a/work/size}}
step:
  - {name: a, batch: true, do: ['while [ ! -e ../../../../go ]; do sleep 0.1; done', printf 5 > size]}
  - {name: b, depend: a, use: p, batch: true, do: 'echo b$size >> ../../../../witness'}
  - {name: c, depend: a, batch: true, do: 'echo c >> ../../../../witness'}
  - {name: d, depend: 'b,c', do: 'echo d >> ../../../../witness'}
)");
  const auto run = ChainTest::run(site);
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(run.standard_error,
              AllOf(HasSubstr("step 'b' is not chained and starts when its parents are done: "
                              "parameter 'size' is a script that may read files of the parents "
                              "(chain.yaml:3)"),
                    HasSubstr("step 'd' is not chained and starts when its parents are done: it "
                              "is not a batch step"),
                    Not(HasSubstr("step 'c'"))));
  EXPECT_THAT(run.standard_output, HasSubstr("2 jobs in the queue; collect them with"));
  EXPECT_EQ(site.states(), site.all("submitted", 2));
  let_go(site);
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 0);
  EXPECT_EQ(site.witness(), once({"b5", "c", "d"}));
}

struct ChainMoment {
  std::string name;
  int submissions_before;
  bool after;  ///< Of the submission, not before it.
};
class ChainMomentTest : public ChainTest, public testing::WithParamInterface<ChainMoment> {};

TEST_P(ChainMomentTest, AKillLosesAndRepeatsNothing) {
  const Site site(&cluster());
  write(site);
  let_go(site);
  site.programs().mishap("sbatch", {.pass = true}, GetParam().submissions_before);
  site.programs().mishap("sbatch", {.also = GetParam().after, .kill = true});
  EXPECT_EQ(run(site, {"--wait"}).status.signal, SIGKILL);
  const auto again = site.go_on({"--wait"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_EQ(site.witness(), all_once());
  EXPECT_EQ(site.states(), site.all("done", 6));
}

INSTANTIATE_TEST_SUITE_P(Slurm, ChainMomentTest,
                         testing::Values(ChainMoment{"BeforeAChild", 1, false},
                                         ChainMoment{"AfterAChild", 2, true}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace bench::slurm
