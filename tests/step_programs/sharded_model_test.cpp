// A Llama that several processes share, beside the same Llama in one.

#include "step_programs/rank_processes.hpp"
#include "support/case_name.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#ifdef BENCH_STEPS_GLOO

namespace bench::llama {
namespace {

struct ShardCase {
  std::string name;
  int ranks;
  std::string options;
};
class ShardedLlamaTest : public testing::TestWithParam<ShardCase> {};

TEST_P(ShardedLlamaTest, HasTheLossAndTheGradientsOfTheWhole) {
  const auto outcomes =
      steps::run_ranks(GetParam().ranks, SHARDED_MODEL_PROGRAM, GetParam().options);
  for (const steps::Outcome& outcome : outcomes) {
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_LT(outcome.number("gradient_difference"), 1e-5);
    if (outcome.value("is_last_stage") == "true") {
      EXPECT_NEAR(outcome.number("loss"), outcome.number("whole_loss"), 1e-5);
    }
  }
  EXPECT_EQ(outcomes.back().value("is_last_stage"), "true");
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, ShardedLlamaTest,
    testing::Values(ShardCase{"TwoTensorParallel", 2, "--tensor-parallel 2"},
                    ShardCase{"TwoTensorParallelTied", 2, "--tensor-parallel 2 --tied"},
                    ShardCase{"FourTensorParallelRecomputed", 4, "--tensor-parallel 4 --recompute"},
                    ShardCase{"TwoOfEightExperts", 2, "--tensor-parallel 2 --experts 8"},
                    ShardCase{"FourOfFourExperts", 4, "--tensor-parallel 4 --experts 4"},
                    ShardCase{"TwoStages", 2, "--pipeline-parallel 2"},
                    ShardCase{"TwoStagesTied", 2, "--pipeline-parallel 2 --tied"},
                    ShardCase{"TwoStagesOfTwo", 4,
                              "--tensor-parallel 2 --pipeline-parallel 2 --tied"}),
    support::case_name);

}  // namespace
}  // namespace bench::llama

#endif
