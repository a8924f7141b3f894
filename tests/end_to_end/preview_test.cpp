#include "bench_program.hpp"

#include <ostream>
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

struct RefusedBudget {
  std::string name;
  std::vector<std::string> options;
  std::string error;
};
void PrintTo(const RefusedBudget& one, std::ostream* out) {
  *out << one.name;
}
class RefusedBudgetTest : public testing::TestWithParam<RefusedBudget> {};

TEST_P(RefusedBudgetTest, MakesNothing) {
  const Playground here;
  here.write("jobs.yaml", jobs);
  here.write("endless.yaml",
             "name: e\noutpath: runs\nstep: {name: s, batch: {nodes: 2}, do: echo}\n");
  std::vector<std::string> arguments{"run"};
  arguments.insert(arguments.end(), GetParam().options.begin(), GetParam().options.end());
  const auto output = here.bench(arguments);
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.standard_error, StartsWith(GetParam().error));
  EXPECT_FALSE(here.has("runs"));
}

INSTANTIATE_TEST_SUITE_P(
    Budgets, RefusedBudgetTest,
    testing::Values(
        RefusedBudget{"Exceeded",
                      {"jobs.yaml", "--platform", "slurm", "--budget", "22nh"},
                      "error: the run may take 22.50 node hours, and its budget is 22.00: train "
                      "21.00 (3 jobs), small 1.50 (3 jobs)\nhint: `bench run -n` shows how"},
        RefusedBudget{"WithoutABound",
                      {"endless.yaml", "--platform", "slurm", "--budget", "22nh"},
                      "endless.yaml:3:24: error: the jobs of step 's' have no time limit, so "
                      "they cannot be held against the budget\n"},
        RefusedBudget{"WithoutAUnit",
                      {"jobs.yaml", "--platform", "slurm", "--budget", "22"},
                      "error: invalid budget '22'\nhint: use node hours, core hours or GPU hours: "
                      "50nh, 3200ch, 200gh\n"},
        RefusedBudget{"InCoresThatNobodyKnows",
                      {"jobs.yaml", "--platform", "slurm", "--budget", "22ch"},
                      "error: platform slurm has no confirmed `cores_per_node`"},
        RefusedBudget{"WithoutABatchSystem",
                      {"jobs.yaml", "--budget", "22nh"},
                      "error: platform local has no batch system"}),
    [](const auto& one) { return one.param.name; });

TEST_F(PreviewTest, ABudgetIsCheckedInADryRun) {
  here_.write("jobs.yaml", jobs);
  EXPECT_THAT(preview({"--platform", "slurm", "--budget", "22.5nh"}), HasSubstr("22.5 |"));
  const auto refused =
      here_.bench({"run", "jobs.yaml", "-n", "--platform", "slurm", "--budget", "22nh"});
  EXPECT_EQ(refused.status.code, 1);
  EXPECT_THAT(refused.standard_output, HasSubstr("22.5 |"));
}

}  // namespace
}  // namespace bench::end_to_end
