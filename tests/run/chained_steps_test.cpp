#include "space/run_fixture.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/run/chained_steps.hpp>

namespace bench::run {
namespace {

using testing::ElementsAre;

/// What prevents that step `b`, which depends on `a`, is chained.
struct ObstacleCase {
  std::string name;
  std::string rest;      ///< Of the input file, after the two steps.
  std::string of_first;  ///< Attributes of `a`.
  std::string of_second;
  std::string blocker;
  std::string platform = "slurm";
};

class ChainObstacleTest : public space::RunFixture,
                          public testing::WithParamInterface<ObstacleCase> {};

TEST_P(ChainObstacleTest, IsNamed) {
  const ObstacleCase& one = GetParam();
  plan("step: [{name: a, " + one.of_first + "},\n       {name: b, depend: a, " + one.of_second +
           "}]\n" + one.rest,
       one.platform);
  EXPECT_EQ(chain_blocker(run_, *run_.benchmark.step("b")), one.blocker);
}

const std::string batch = "batch: true";
const std::string uses = "batch: true, use: s";

INSTANTIATE_TEST_SUITE_P(
    Chain, ChainObstacleTest,
    testing::Values(
        ObstacleCase{"Nothing", "", batch, batch, ""},
        ObstacleCase{"NothingWithParameters",
                     "parameterset: {name: s, parameter: [{n: [1, 2]}, {name: m, mode: python, _: "
                     "$n * 2}, {name: w, _: $jube_wp_abspath}]}\n",
                     batch, uses, ""},
        ObstacleCase{"NothingWithFiles",
                     "fileset: {name: s, copy: [input.in, $jube_benchmark_home/x]}\n", batch, uses,
                     ""},
        ObstacleCase{"ScriptThatTheParentHasEvaluated",
                     "parameterset: {name: s, parameter: {name: h, mode: shell, _: hostname}}\n",
                     uses, uses, ""},
        ObstacleCase{"ScriptThatIsEvaluatedAgain",
                     "parameterset: {name: s, parameter: {name: h, mode: shell, update_mode: step, "
                     "_: hostname}}\n",
                     uses, batch,
                     "parameter 'h' is a script that may read files of the parents (in.yaml:3)"},
        ObstacleCase{"ShellScript",
                     "parameterset: {name: s, parameter: {name: h, mode: shell, _: cat x}}\n",
                     batch, uses,
                     "parameter 'h' is a script that may read files of the parents (in.yaml:3)"},
        ObstacleCase{"PythonThatReads",
                     "parameterset: {name: s, parameter: {name: h, mode: python, _: "
                     "\"open('x').read()\"}}\n",
                     batch, uses,
                     "parameter 'h' is a script that may read files of the parents (in.yaml:3)"},
        ObstacleCase{"PythonThatReadsByOs",
                     "parameterset: {name: s, parameter: {name: h, mode: python, _: "
                     "os.popen('cat x').read()}}\n",
                     batch, uses,
                     "parameter 'h' is a script that may read files of the parents (in.yaml:3)"},
        ObstacleCase{"PythonThatReadsByAProgram",
                     "parameterset: {name: s, parameter: {name: h, mode: python, _: "
                     "\"subprocess.getoutput('cat x')\"}}\n",
                     batch, uses,
                     "parameter 'h' is a script that may read files of the parents (in.yaml:3)"},
        ObstacleCase{"NoBatchStep", "", batch, "do: x", "it is not a batch step"},
        ObstacleCase{"Limit", "", batch, batch + ", max_async: 2",
                     "`max_async` limits how many of its jobs run at a time (in.yaml:2)"},
        ObstacleCase{"Pack", "", "batch: {pack: 2}", batch,
                     "a job of step 'a' runs several workpackages: `pack` (in.yaml:1)"},
        ObstacleCase{"Cycles", "", batch + ", cycles: 2", batch,
                     "step 'a' has a job for each of its `cycles` (in.yaml:1)"},
        ObstacleCase{"Prepare", "fileset: {name: s, prepare: cp a/x .}\n", batch, uses,
                     "`prepare` of file set 's' may read files of the parents (in.yaml:3)"},
        ObstacleCase{"CopyFromTheRun", "fileset: {name: s, copy: \"${jube_benchmark_rundir}/x\"}\n",
                     batch, uses, "file set 's' refers to $jube_benchmark_rundir (in.yaml:3)"},
        ObstacleCase{"SubstitutionOfAParentsFile",
                     "substituteset: {name: s, iofile: {in: a/x, out: x}, sub: {source: y, dest: "
                     "z}}\n",
                     batch, uses, "substitution 's' reads a/x (in.yaml:3)"},
        ObstacleCase{"SubstitutionOfAParentsFileByAnotherName",
                     "substituteset: {name: s, iofile: {in: ./a/x, out: x}, sub: {source: y, dest: "
                     "z}}\n",
                     batch, uses, "substitution 's' reads ./a/x (in.yaml:3)"},
        ObstacleCase{"SystemWithoutDependencies", "", batch, batch,
                     "flux cannot make jobs depend on the success of others", "flux"}),
    [](const auto& one) { return one.param.name; });

class ChainStepsTest : public space::RunFixture {
 protected:
  bool chain() { return chain_steps(run_, notices_); }
  std::vector<std::string> notices_;
};

TEST_F(ChainStepsTest, TakesThoseThatCanBeChainedAndNamesTheOthers) {
  plan(
      "step: [{name: a, batch: true}, {name: b, depend: a, batch: true}, {name: c, depend: b},\n"
      "       {name: d, batch: true, depend: b}, {name: e}, {name: f, depend: e, batch: true}]\n",
      "slurm");
  EXPECT_TRUE(chain());
  EXPECT_EQ(run_.metadata.chained, "b,d");
  EXPECT_THAT(notices_, ElementsAre("step 'c' is not chained and starts when its parents are "
                                    "done: it is not a batch step"));
}

TEST_F(ChainStepsTest, HasNoEffectWithoutABatchSystem) {
  plan("step: [{name: a, batch: true}, {name: b, depend: a, batch: true}]\n");
  EXPECT_FALSE(chain());
  EXPECT_EQ(run_.metadata.chained, std::nullopt);
  EXPECT_THAT(notices_, ElementsAre("--chain has no effect: platform local has no batch system"));
}

TEST_F(ChainStepsTest, HasNoEffectWhereNothingFollowsAJob) {
  plan("step: [{name: a}, {name: b, depend: a, batch: true}]\n", "slurm");
  EXPECT_FALSE(chain());
  EXPECT_THAT(notices_, ElementsAre("--chain has no effect: no step depends on a batch step"));
}

TEST_F(ChainStepsTest, KeepsWhatARunHas) {
  plan("step: [{name: a, batch: true}, {name: b, depend: a, batch: true}]\n", "slurm");
  run_.metadata.chained = "";
  EXPECT_TRUE(chain());
  EXPECT_EQ(run_.metadata.chained, "");
}

}  // namespace
}  // namespace bench::run
