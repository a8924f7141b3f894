#include "bench_program.hpp"
#include "support/patience.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class RunOptionsTest : public testing::Test {
 protected:
  void SetUp() override { here_.write("small.yaml", small_sweep()); }
  Playground here_;
};

constexpr const char* two_benchmarks =
    "benchmark:\n"
    "  - {name: one, outpath: runs, step: {name: s, do: echo 1}}\n"
    "  - {name: two, outpath: runs, step: {name: s, do: echo 2}}\n";

TEST_F(RunOptionsTest, PrintsTheStatesOfEachStepAndTheCommandsThatFollow) {
  EXPECT_EQ(here_.bench({"run", "small.yaml", "--hide-animation"}).standard_output,
            R"(######################################################################
# benchmark: small
# id: 0
#
# three squares
######################################################################


  |    step | all | done | failed |
  |---------|-----|------|--------|
  | compute |   3 |    3 |      0 |
  |   check |   3 |    3 |      0 |

>>>> Run and its follow-up commands
>>>>       id: 0
>>>>   handle: runs
>>>>      dir: runs/000000
>>>>  analyse: bench analyse runs --id 0
>>>>   result: bench result runs --id 0
>>>>     info: bench info runs --id 0
>>>>      log: bench log runs --id 0
######################################################################
)");
  // The workspace must not outlive the lock.
  EXPECT_FALSE(here_.has("runs/000000/workspace.db-wal"));
  EXPECT_TRUE(here_.has("runs/000000/workspace.db"));
}

TEST_F(RunOptionsTest, ALongCommentIsWrappedInTheBox) {
  const std::string words(60, 'x');
  EXPECT_THAT(
      here_.bench({"run", "small.yaml", "-m", words + " and more words\nsecond"}).standard_output,
      HasSubstr("#\n# " + words + " and\n# more words\n# second\n####"));
}

TEST_F(RunOptionsTest, ARunThatIsNotFinishedSaysHowToGoOn) {
  here_.write("stop.yaml",
              "name: stop\noutpath: runs\n"
              "parameterset: {name: sweep, parameter: {n: [1, 2, 3]}}\n"
              "step: {name: compute, use: sweep, procs: 1, do: 'test $n = 2'}\n");
  EXPECT_THAT(here_.bench({"run", "stop.yaml", "-e"}).standard_output,
              HasSubstr(">>>>      dir: runs/000000\n"
                        ">>>> continue: bench continue runs --id 0\n"));
}

TEST_F(RunOptionsTest, TheNextCommandsDoNotTakeAnOutpathForOptions) {
  here_.write("dash.yaml", "name: dash\noutpath: -out\nstep: {name: s, do: 'true'}\n");
  EXPECT_THAT(here_.bench({"run", "dash.yaml"}).standard_output,
              HasSubstr(">>>>     info: bench info ./-out --id 0\n"));
  EXPECT_EQ(here_.bench({"info", "./-out", "--id", "0"}).status.code, 0);
}

/// As in a published file of JUBE.
TEST_F(RunOptionsTest, AnOutpathMayHoldVariablesOfTheBenchmark) {
  here_.run("below/home.yaml",
            "name: home\noutpath: ${jube_benchmark_home}/../${jube_benchmark_name}_runs\n"
            "step: {name: s, do: 'true'}\n");
  EXPECT_TRUE(here_.has("home_runs/000000"));
}

TEST_F(RunOptionsTest, AnUnsetVariableInAnOutpathStaysAsInJubeUnlessTheFileIsForBench) {
  const std::string text =
      "name: unset\noutpath: ${BENCH_TEST_UNSET}/../runs_of_it\nstep: {name: s, do: 'true'";
  const auto output = here_.run("unset.yaml", text + "}\n");
  EXPECT_THAT(output.standard_error,
              HasSubstr("warning: outpath: environment variable 'BENCH_TEST_UNSET' is not set"));
  EXPECT_TRUE(here_.has("runs_of_it/000000"));
  here_.run("unset.yaml", text + ", timeout: 1h}\n", {}, 1);
  EXPECT_EQ(here_.bench({"run", "unset.yaml", "-o", "other"}).status.code, 0);
}

TEST_F(RunOptionsTest, EachBenchmarkTakesOneOfTheIds) {
  const auto refused = here_.bench({"run", "small.yaml", "-i", "0", "-5"});
  EXPECT_EQ(refused.status.code, 1);
  EXPECT_EQ(refused.standard_error,
            "error: invalid run id -5\n"
            "hint: ids start at 0; omit -i to use the next free one\n");
  EXPECT_FALSE(here_.has("runs"));
  here_.write("two.yaml", two_benchmarks);
  EXPECT_EQ(here_.bench({"run", "two.yaml", "small.yaml", "-i", "4", "9"}).status.code, 0);
  EXPECT_EQ(here_.read("runs/000004/000000_s/work/stdout"), "1\n");
  EXPECT_EQ(here_.read("runs/000009/000000_s/work/stdout"), "2\n");
  EXPECT_TRUE(here_.has("runs/000010/000000_compute"));
  EXPECT_THAT(here_.bench({"run", "small.yaml", "-i", "4"}).standard_error,
              StartsWith("error: run 4 exists already: "));
  const auto one = here_.bench({"run", "small.yaml", "-i", "5", "6"});
  EXPECT_EQ(one.status.code, 0);
  EXPECT_EQ(one.standard_error, "note: id 6 is unused: there are fewer benchmarks than ids\n");
}

TEST_F(RunOptionsTest, BenchmarksAreChosenByName) {
  here_.write("two.yaml", two_benchmarks);
  here_.bench({"run", "two.yaml", "--only-bench", "two"});
  EXPECT_EQ(here_.read("runs/000000/000000_s/work/stdout"), "2\n");
  here_.bench({"run", "two.yaml", "--not-bench", "two"});
  EXPECT_EQ(here_.read("runs/000001/000000_s/work/stdout"), "1\n");
  EXPECT_FALSE(here_.has("runs/000002"));
}

TEST_F(RunOptionsTest, IncludedFilesAreFoundInTheGivenDirectories) {
  std::filesystem::create_directory(here_.path() / "library");
  here_.write("library/sets.yaml", "parameterset: {name: p, parameter: {name: n, _: 42}}\n");
  here_.run("user.yaml",
            "name: user\noutpath: runs\n"
            "step: {name: s, use: {from: sets.yaml, _: p}, do: echo $n}\n",
            {}, 1);
  EXPECT_EQ(here_.bench({"run", "user.yaml", "--include-path", "library"}).status.code, 0);
  EXPECT_EQ(here_.read("runs/000000/000000_s/work/stdout"), "42\n");
  EXPECT_EQ(here_.bench({"check", "user.yaml", "--include-path", "library"}).status.code, 0);
}

TEST_F(RunOptionsTest, TheLastWordBehindTagsIsTheFileWhereThereIsNoOther) {
  EXPECT_EQ(here_.bench({"run", "-t", "a", "b", "small.yaml"}).status.code, 0);
  EXPECT_THAT(here_.bench({"tag", "runs"}).standard_output, StartsWith("run 0: tags a,b\n"));
}

TEST_F(RunOptionsTest, AFileThatBecameATagIsRefused) {
  here_.write("two.yaml", two_benchmarks);
  const auto run = here_.bench({"run", "two.yaml", "-t", "a", "small.yaml"});
  EXPECT_EQ(run.status.code, 2);
  EXPECT_THAT(
      run.standard_error,
      HasSubstr(
          "hint: --tag consumed 'small.yaml' as a value; put FILE first, or `--` before it\n"));
  EXPECT_FALSE(here_.has("runs"));
}

TEST_F(RunOptionsTest, ARunWithTooManyWorkpackagesIsRefused) {
  EXPECT_EQ(here_.bench({"run", "small.yaml", "--max-workpackages", "6"}).status.code, 0);
  const auto run = here_.bench({"run", "small.yaml", "--max-workpackages", "2"});
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(run.standard_error, HasSubstr("--max-workpackages"));
  EXPECT_FALSE(here_.has("runs/000001"));
  EXPECT_EQ(here_.bench({"check", "small.yaml", "--max-workpackages", "2"}).status.code, 1);
}

TEST_F(RunOptionsTest, OptionsOfJubeAreTakenInFrontOfTheCommandToo) {
  EXPECT_EQ(here_.bench({"--debug", "run", "small.yaml"}).status.code, 0);
  const auto run = here_.bench({"-v", "--strict", "run", "small.yaml", "-t", "unknown"});
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(run.standard_error, HasSubstr("error: tag 'unknown' selects nothing"));
  EXPECT_FALSE(here_.has("runs"));
  // Some mean nothing here.
  EXPECT_THAT(here_.bench({"-v", "run", "small.yaml", "--force", "--devel"}).standard_error,
              HasSubstr("]:INFO: command: bench run -v small.yaml --force --devel\n"));
  EXPECT_EQ(here_.bench({"--devel", "--debug", "-v", "result", "runs"}).status.code, 0);
  EXPECT_EQ(here_.bench({"continue", "--debug", "runs"}).status.code, 2);
}

TEST_F(RunOptionsTest, DoublyVerboseShowsWhatCommandsPrintWhileTheyRun) {
  // Its own output, shown, is what lets the command succeed.
  here_.write(
      "talk.yaml",
      "name: talk\n"
      "outpath: runs\n"
      "step:\n"
      "  name: s\n"
      "  do:\n"
      "    - echo first; for k in $(seq 1000); do test -e ../../../go && break; sleep 0.01; done\n"
      "    - test -e ../../../go; printf rest; echo why >&2\n");
  const std::string shown_to_a_reader = std::string(BENCH_PROGRAM) +
                                        " run talk.yaml -vv | while IFS= read -r line; do "
                                        "echo \"$line\"; "
                                        "test \"$line\" != '[0] first' || touch runs/go; done";
  const auto output =
      run_command({.arguments = {"/bin/sh", "-c", shown_to_a_reader}, .directory = here_.path()},
                  support::far_too_long_s);
  EXPECT_THAT(output.standard_output, AllOf(HasSubstr("\n[0] first\n"), HasSubstr("\n[0] rest\n"),
                                            HasSubstr("\n[0] why\n")));
  EXPECT_THAT(output.standard_error, Not(HasSubstr("INFO")));
}

TEST_F(RunOptionsTest, TheEnvironmentSaysHowMuchIsShown) {
  EXPECT_THAT(here_.bench({"run", "small.yaml"}, {{"JUBE_VERBOSE", "1"}}).standard_error,
              HasSubstr("]:INFO: command: "));
  EXPECT_THAT(here_.bench({"run", "small.yaml"}, {{"JUBE_VERBOSE", "4"}}).standard_error,
              HasSubstr("error: JUBE_VERBOSE is '4'\nhint: a number from 0 to 3"));
}

TEST_F(RunOptionsTest, ExitStopsBeforeTheNextBenchmark) {
  here_.run("two.yaml",
            "benchmark:\n"
            "  - {name: one, outpath: runs, step: {name: s, do: 'false'}}\n"
            "  - {name: two, outpath: runs, step: {name: s, do: echo 2}}\n",
            {"-e"}, 1);
  EXPECT_FALSE(here_.has("runs/000001"));
}

TEST_F(RunOptionsTest, OptionsForABatchSystemNeedOne) {
  for (const char* option : {"--partition", "--account", "--qos", "--reservation"})
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"run", "small.yaml", option, "x"},
          {"run", "-n", "small.yaml", option, "x"}}) {
      const auto refused = here_.bench(arguments);
      EXPECT_EQ(refused.status.code, 1);
      EXPECT_EQ(refused.standard_error,
                std::string("error: ") + option +
                    " has no effect: platform local has no batch system\nhint: select a machine "
                    "with --platform NAME; `bench platforms` lists them\n");
    }
  EXPECT_FALSE(here_.has("runs"));
}

TEST_F(RunOptionsTest, NamesOptionsThatNoStepUses) {
  EXPECT_EQ(here_
                .bench({"run", "small.yaml", "--launcher", "mpirun", "--power-source",
                        "mock:constant=1W"})
                .standard_error,
            "note: --launcher has no effect: no step has `batch`\n"
            "note: --power-source has no effect: no step has `energy`\n");
  EXPECT_EQ(here_.bench({"continue", "runs", "-t", "gpu"}).standard_error,
            "warning: --tag has no effect without --update\n");
}

TEST_F(RunOptionsTest, CountsAreNotNegative) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"run", "small.yaml", "--max-workpackages", "-1"},
        {"run", "small.yaml", "--order-seed", "-1"},
        {"check", "small.yaml", "--max-workpackages", "-1"},
        {"why", "runs", "0", "-n", "-1"}}) {
    const auto refused = here_.bench(arguments);
    EXPECT_EQ(refused.status.code, 2) << arguments.front();
    EXPECT_THAT(refused.standard_error, HasSubstr("error: ")) << arguments.front();
  }
  EXPECT_FALSE(here_.has("runs"));
}

}  // namespace
}  // namespace bench::end_to_end
