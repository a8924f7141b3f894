#include "bench_program.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// 7 nodes for an hour, which a retry may double once; 10 workpackages in 3 jobs for half an hour.
constexpr const char* jobs = R"(name: jobs
outpath: runs
parameterset:
  - {name: sizes, parameter: {nodes: [1, 2, 4]}}
  - {name: many, parameter: {name: m, _: "1,2,3,4,5,6,7,8,9,10"}}
step:
  - name: train
    use: sizes
    batch: {nodes: $nodes, time_limit: 1h}
    retry: {on: timeout, times: 1, timelimit_factor: 2}
    do: echo train
  - {name: small, use: many, batch: {pack: 4, time_limit: 30min}, do: echo small}
  - {name: report, depend: train, do: echo report}
)";

class PreviewTest : public testing::Test {
 protected:
  std::string preview(std::vector<std::string> options) const {
    options.insert(options.begin(), {"run", "jobs.yaml", "-n"});
    const auto output = here_.bench(std::move(options));
    EXPECT_EQ(output.status.code, 0) << output.standard_error;
    EXPECT_FALSE(here_.has("runs"));
    return output.standard_output;
  }
  Playground here_;
};

TEST_F(PreviewTest, BeginsWithWhatEachStepTakes) {
  here_.write("jobs.yaml", jobs);
  EXPECT_THAT(
      preview({"--platform", "slurm"}),
      StartsWith(
          "|   step | workpackages | at a time | jobs | nodes each |  time limit | node hours at "
          "most |\n"
          "|--------|--------------|-----------|------|------------|-------------|---------------"
          "-----|\n"
          "|  train |            3 |  no limit |    3 |     1 to 4 |  1 h 00 min |               "
          "21.0 |\n"
          "|  small |           10 |  no limit |    3 |          1 | 30 min 00 s |               "
          "1.50 |\n"
          "| report |            3 |         1 |      |            |             |               "
          "     |\n"
          "|    all |           16 |           |    6 |            |             |               "
          "22.5 |\n"
          "\n000000_train  nodes=1\n"));
}

TEST_F(PreviewTest, WithoutABatchSystemThereAreNoJobs) {
  here_.write("jobs.yaml", jobs);
  EXPECT_THAT(preview({}), StartsWith("|   step | workpackages | at a time |\n"
                                      "|--------|--------------|-----------|\n"
                                      "|  train |            3 |         1 |\n"));
}

TEST_F(PreviewTest, OfManyWorkpackagesTheFirstAreShown) {
  here_.write("jobs.yaml", jobs);
  EXPECT_THAT(preview({"--platform", "slurm"}),
              AllOf(HasSubstr("_small  m=5\n"), Not(HasSubstr("_small  m=6\n")),
                    HasSubstr("\nand 5 more of step small; --all shows them\n")));
  EXPECT_THAT(preview({"--platform", "slurm", "--all"}),
              AllOf(HasSubstr("_small  m=10\n"), Not(HasSubstr("more of step"))));
}

TEST_F(PreviewTest, AJobWithoutATimeLimitHasNoBound) {
  here_.write("jobs.yaml", "name: j\noutpath: runs\nstep: {name: s, batch: true, do: echo}\n");
  EXPECT_THAT(
      preview({"--platform", "slurm"}),
      HasSubstr(
          "|    s |            1 |  no limit |    1 |          1 |       none |                "
          "  ? |\n"));
}

TEST_F(PreviewTest, ABudgetIsCheckedInADryRunAndBeforeARun) {
  here_.write("jobs.yaml", jobs);
  EXPECT_THAT(preview({"--platform", "slurm", "--budget", "22.5nh"}), HasSubstr("22.5 |"));
  const std::vector<std::string> beyond{"jobs.yaml", "--platform", "slurm", "--budget", "22nh"};
  EXPECT_THAT(here_.text_of("run", beyond, 1),
              StartsWith("error: the run may take 22.50 node hours, and its budget is 22.00"));
  std::vector<std::string> dry = beyond;
  dry.emplace_back("-n");
  EXPECT_THAT(here_.text_of("run", dry, 1), HasSubstr("22.5 |"));
  EXPECT_FALSE(here_.has("runs"));
}

}  // namespace
}  // namespace bench::end_to_end
