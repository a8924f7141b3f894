// The files of examples/ci do what their page says.
#include "bench_program.hpp"
#include "support/source_directory.hpp"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using support::source_directory;
using testing::AllOf;
using testing::HasSubstr;

class CiExamplesTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(here_.path() / "examples");
    fs::copy(source_directory() / "examples/ci", here_.path() / "examples/ci");
  }
  /// The script as cron calls it. Expects the exit code.
  std::string call(const std::string& line, int code, const Environment& extra = {}) const {
    const CommandOutput output = here_.shell(line, extra, "sh");
    EXPECT_EQ(output.status.code, code) << output.standard_output << output.standard_error;
    return output.standard_output + output.standard_error;
  }
  std::string benchmark(int code, const Environment& extra = {}) const {
    return call("examples/ci/continuous_benchmark examples/ci/benchmark.yaml runs", code, extra);
  }
  Playground here_;
};

TEST_F(CiExamplesTest, TheFirstRunIsUndecidedAndAnEqualOneAfterItPasses) {
  benchmark(3);
  EXPECT_THAT(here_.read("reports/junit.xml"), HasSubstr("tests=\"16\" failures=\"0\""));
  EXPECT_THAT(here_.read("reports/points.lp"), HasSubstr("time_s="));
  here_.bench({"baseline", "accept", "runs"});
  fs::create_directory(here_.path() / "metrics");
  benchmark(0, {{"GITHUB_STEP_SUMMARY", "step.md"}, {"METRICS_DIRECTORY", "metrics"}});
  EXPECT_THAT(here_.read("step.md"),
              AllOf(HasSubstr("## nightly: run 1 done"), HasSubstr("### Baseline\n\npassed")));
  EXPECT_THAT(here_.read("metrics/bench.prom"), HasSubstr("bench_run_info"));
  EXPECT_FALSE(here_.has("reports/run.tar.gz"));
}

TEST_F(CiExamplesTest, ReportsOfAnEarlierCallAreNotLeftForThoseOfOneThatCouldNotRun) {
  benchmark(3);
  here_.write("examples/ci/benchmark.yaml", "name: [\n");
  benchmark(1);
  EXPECT_FALSE(here_.has("reports/junit.xml"));
}

TEST_F(CiExamplesTest, AFailureIsReportedWithTheWholeRun) {
  const std::string file = here_.read("examples/ci/benchmark.yaml");
  here_.write("examples/ci/benchmark.yaml",
              replace_all(file, "echo \"time=", "exit 7; echo \"time="));
  benchmark(1);
  EXPECT_THAT(here_.read("reports/junit.xml"), HasSubstr("failures=\"16\""));
  EXPECT_TRUE(here_.has("reports/run.tar.gz"));
  benchmark(1);  // replaces the reports
}

TEST_F(CiExamplesTest, TwoCallsDoNotMeasureAtTheSameTime) {
  fs::create_directory(here_.path() / "runs");
  EXPECT_THAT(call("flock runs/continuous_benchmark.lock examples/ci/continuous_benchmark "
                   "examples/ci/benchmark.yaml runs",
                   4),
              HasSubstr("an earlier call still runs in runs"));
}

TEST_F(CiExamplesTest, TheScriptOfGitLabRuns) {
  std::string script;
  bool in_script = false;
  for (const std::string& line : split(here_.read("examples/ci/gitlab-ci.yml"), "\n")) {
    if (in_script && line.starts_with("    - "))
      script += line.substr(6) + "\n";
    in_script = line == "  script:" || (in_script && line.starts_with("    "));
  }
  ASSERT_NE(script, "");
  const std::string home = (here_.path() / "home").string();
  call("set -e\n" + script, 3, {{"HOME", home}, {"CI_PROJECT_PATH_SLUG", "group-project"}});
  EXPECT_TRUE(here_.has("home/benchmarks/group-project/000000/workspace.db"));
  EXPECT_TRUE(here_.has("reports/junit.xml"));
  EXPECT_TRUE(here_.has("reports/metrics.txt"));
}

}  // namespace
}  // namespace bench::end_to_end
