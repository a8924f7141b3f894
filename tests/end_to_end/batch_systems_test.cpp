#include "bench_program.hpp"
#include "support/eventually.hpp"

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAreArray;

struct System {
  std::string kind;
  std::string platform;
  std::vector<std::string> programs;
  std::string array;  ///< How three tasks, two at a time, stand in its script; empty: no arrays.
  /// How the jobs of two children wait for those of their parents; none: there are no dependencies.
  std::vector<std::string> chained = {};
};
void PrintTo(const System& system, std::ostream* out) {
  *out << system.kind;
}

/// Batch systems other than Slurm, as shipped platforms name them: programs that behave like theirs
/// stand first on PATH.
class BatchSystemTest : public testing::TestWithParam<System> {
 protected:
  BatchSystemTest() {
    fs::create_directories(ground_.path() / "bin");
    fs::create_directories(ground_.path() / "queue");
    for (const std::string& program : GetParam().programs)
      fs::create_symlink(FAKE_BATCH_SYSTEM, ground_.path() / "bin" / program);
    ground_.write("b.yaml", R"(name: b
outpath: runs
parameterset: {name: p, parameter: {n: [1, 2, 3]}}
step:
  name: go
  use: p
  batch: {nodes: 1, tasks_per_node: 2, time_limit: 5min}
  do: ['echo value=$n', 'test $n != 2']
patternset: {name: found, pattern: {name: value, type: int, _: value=$jube_pat_int}}
analyser: {name: a, use: found, analyse: {step: go, file: stdout}}
result: {use: a, table: {name: t, style: csv, column: [n, value, jube_wp_status]}}
)");
  }

  Environment variables() const {
    const std::string path = (ground_.path() / "bin").string() + ":" + std::getenv("PATH");
    return {{"PATH", path},
            {"USER", "somebody"},
            {"FAKE_BATCH_KIND", GetParam().kind},
            {"FAKE_BATCH_DIR", (ground_.path() / "queue").string()}};
  }
  CommandOutput bench(std::vector<std::string> arguments) {
    return ground_.bench(std::move(arguments), variables());
  }
  CommandOutput run(const std::string& option) {
    return bench({"run", "b.yaml", "--platform", GetParam().platform, "--account", "acc",
                  "--partition", "batch", option});
  }

  /// @param rows a table of the workspace, and which rows of it
  int count(const std::string& rows) const {
    const SQLite::Database database((ground_.path() / "runs/000000/workspace.db").string());
    SQLite::Statement select(database, "SELECT count(*) FROM " + rows);
    select.executeStep();
    return select.getColumn(0).getInt();
  }

  void limit_to_two() {
    ground_.write("b.yaml", replace_all(ground_.read("b.yaml"), "use: p\n  batch",
                                        "use: p\n  max_async: 2\n  batch"));
  }

  Playground ground_;
};

TEST_P(BatchSystemTest, RunsJobsToTheirEnds) {
  const CommandOutput output = run("--wait");
  EXPECT_EQ(output.status.code, 1) << output.standard_error;
  EXPECT_THAT(output.standard_error, HasSubstr("workpackage 1 (go) failed: exit code 1"));
  EXPECT_THAT(bench({"result", "runs"}).standard_output,
              HasSubstr("n,value,jube_wp_status\n1,1,DONE\n2,2,ERROR\n3,3,DONE\n"));
  // Equal jobs are an array where the system has them.
  const std::string one = GetParam().array.substr(0, GetParam().array.find('%'));
  EXPECT_THAT(ground_.read("queue/submissions"),
              GetParam().array.empty() ? StartsWith("job\njob\njob\n") : StartsWith(one));
}

TEST_P(BatchSystemTest, TellsRanksOfSeveralNodesWhereToMeet) {
  ground_.write("b.yaml", R"(name: b
outpath: runs
step: {name: go, batch: {nodes: 2, time_limit: 5min}, do: 'echo $$MASTER_ADDR $$MASTER_PORT'}
)");
  ASSERT_EQ(run("--wait").status.code, 0);
  EXPECT_THAT(ground_.read("runs/000000/000000_go/work/stdout"),
              testing::MatchesRegex("[^ ]+ 2[0-9]{4}\n"));
}

TEST_P(BatchSystemTest, AWatchGoesOnWhileAJobIsQueued) {
  ground_.write("queue/hold", "");
  ASSERT_EQ(run("--hide-animation").status.code, 0);
  ProcessSpec spec = ground_.spec({"status", "runs", "--watch"}, variables());
  const UniqueFd said(::open((ground_.path() / "said").c_str(), O_WRONLY | O_CREAT, 0600));
  spec.stdout_fd = spec.stderr_fd = said.get();
  Process watch(spec);
  EXPECT_TRUE(support::eventually([&] {
    return ground_.read("said").find(
               "note: 3 jobs of this run are queued or running, but no bench process collects "
               "them: bench continue runs -i 0 --wait\n") != std::string::npos;
  }));
  EXPECT_FALSE(watch.poll());
  EXPECT_THAT(bench({"why", "runs", "0"}).standard_output,
              Not(HasSubstr("no longer knows the job")));
  watch.signal_group(SIGINT);
  watch.wait();
  fs::remove_all(ground_.path() / "queue");
  fs::create_directory(ground_.path() / "queue");
  EXPECT_THAT(bench({"status", "runs", "--watch"}).standard_error,
              HasSubstr("note: nobody is working on this run: no bench process, and none of its "
                        "jobs is queued or running; resume with: bench continue runs -i 0 "
                        "--wait\n"));
}

TEST_P(BatchSystemTest, CancelsJobsThatWait) {
  ground_.write("queue/hold", "");
  ASSERT_EQ(run("--hide-animation").status.code, 0);
  EXPECT_EQ(bench({"status", "runs"}).standard_output, "running\n");
  const CommandOutput output = bench({"cancel", "runs"});
  EXPECT_EQ(output.standard_output, "cancelled 3 jobs of run 0, with 3 workpackages\n")
      << output.standard_error;
  EXPECT_EQ(bench({"status", "runs"}).standard_output, "failed\n");
}

// The systems forget the jobs, or say only that they have ended.
TEST_P(BatchSystemTest, CancelsJobsThatAnotherBenchWaitsFor) {
  ground_.write("queue/hold", "");
  ground_.write("quick.yaml", "name: quick\nextends: " + GetParam().platform +
                                  "\npolling: {interval: 1s, sentinel_grace: 1s}\n");
  ProcessSpec spec = ground_.spec(
      {"run", "b.yaml", "--platform", "./quick.yaml", "--account", "acc", "--wait"}, variables());
  const UniqueFd said(::open((ground_.path() / "said").c_str(), O_WRONLY | O_CREAT, 0600));
  spec.stdout_fd = spec.stderr_fd = said.get();
  Process waiting(spec);
  ASSERT_TRUE(support::eventually([&] {
    return ground_.has("runs/000000/workspace.db") &&
           count("workpackage WHERE state = 'submitted'") == 3;
  }));
  EXPECT_EQ(bench({"cancel", "runs"}).standard_output,
            "cancelled 3 jobs of run 0, with 3 workpackages\n");
  EXPECT_EQ(waiting.wait().code, 1) << ground_.read("said");
  EXPECT_EQ(count("attempt WHERE outcome = 'cancelled'"), 3) << ground_.read("said");
  EXPECT_EQ(count("attempt"), 3) << "none was submitted again";
}

/// Without arrays with a throttle and without dependencies bench minds the limit itself.
TEST_P(BatchSystemTest, RunsNoMoreAtATimeThanAllowed) {
  limit_to_two();
  if (!GetParam().array.empty()) {
    ASSERT_EQ(run("--wait").status.code, 1);
    EXPECT_EQ(ground_.read("queue/submissions"), GetParam().array + "\n");
    return;
  }
  ground_.write("queue/hold", "");
  ASSERT_EQ(run("--hide-animation").status.code, 0);
  EXPECT_EQ(bench({"cancel", "runs"}).standard_output,
            "cancelled 2 jobs of run 0, with 2 workpackages\n");
  ASSERT_EQ(bench({"continue", "runs"}).status.code, 1);
  EXPECT_EQ(bench({"cancel", "runs"}).standard_output,
            "cancelled 1 job of run 0, with 1 workpackage\n");
}

TEST_P(BatchSystemTest, ChainsJobsWhereItHasDependencies) {
  ground_.write("queue/hold", "");
  ground_.write("b.yaml", R"(name: b
outpath: runs
parameterset: {name: p, parameter: {n: [1, 2]}}
step:
  - {name: first, use: p, batch: {nodes: 1, tasks_per_node: 2, time_limit: 5min}, do: 'true'}
  - {name: second, depend: first, batch: {nodes: 1, tasks_per_node: 2, time_limit: 5min}, do: x}
)");
  const CommandOutput output = run("--chain");
  EXPECT_EQ(output.status.code, 0) << output.standard_error;
  if (GetParam().chained.empty()) {
    EXPECT_THAT(output.standard_error,
                HasSubstr("cannot make jobs depend on the success of others"));
    EXPECT_THAT(output.standard_output, Not(HasSubstr("in the queue")));
    return;
  }
  EXPECT_THAT(output.standard_output, HasSubstr("4 jobs in the queue"));
  std::vector<std::string> waiting;
  for (const auto& entry : fs::directory_iterator(ground_.path() / "runs/000000/submissions"))
    for (const std::string& line : split_names(read_file(entry.path() / "job.sh"), "\n"))
      for (const std::string& one : GetParam().chained)
        if (line == one)
          waiting.push_back(line);
  EXPECT_THAT(waiting, UnorderedElementsAreArray(GetParam().chained));
}

INSTANTIATE_TEST_SUITE_P(
    Shipped, BatchSystemTest,
    testing::Values(System{"pbs",
                           "pbs",
                           {"qsub", "qselect", "qstat", "qdel"},
                           "1-3%2",
                           {"#PBS -W depend=afterok:100", "#PBS -W depend=afterok:101"}},
                    System{"lsf",
                           "Summit",
                           {"bsub", "bjobs", "bkill"},
                           "[1-3]%2",
                           {"#BSUB -w \"done(100[1])\" -ti", "#BSUB -w \"done(100[2])\" -ti"}},
                    System{"pjm", "Fugaku", {"pjsub", "pjstat", "pjdel"}},
                    System{"uge", "ABCI", {"qsub", "qstat", "qdel"}},
                    System{"cobalt", "ThetaGPU", {"qsub", "qstat", "qdel"}},
                    System{"flux", "flux", {"flux"}}),
    [](const auto& one) { return one.param.kind; });

}  // namespace
}  // namespace bench::end_to_end
