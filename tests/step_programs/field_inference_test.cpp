// Inference with the networks of MAELSTROM's applications.

#include "step_programs/ap3_columns.hpp"
#include "step_programs/linked_programs.hpp"
#include "step_programs/rank_processes.hpp"

#include <string>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::HasSubstr;

const std::string small = "--device cpu --threads 1 ";

/// Ten columns of the atmosphere.
class Ap3InferenceTest : public testing::Test {
 protected:
  Ap3InferenceTest() {
    const Outcome written = run_step(
        DATASET_PROGRAM, std::string("fields --samples 10 --output ") + set_ + ap3_columns);
    EXPECT_EQ(written.exit_code, 0) << written.err;
  }

  Folder folder_;
  std::string set_ = folder_.file("set");
  std::string weights_ = folder_.file("weights.safetensors");
};

// With weights of a training, and the loss that the training found for the same samples.
TEST_F(Ap3InferenceTest, PassesEachSampleOnceThroughTheGivenWeights) {
  const Outcome trained = run_step(
      AP3_PROGRAM, small + "--batch-size 10 --warmup 0 --steps 1 --eval-interval 1 --data-path " +
                       set_ + " --eval-path " + set_ + " --save-weights " + weights_);
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Outcome inferred =
      run_step(AP3_PROGRAM, small + "--inference --batch-size 4 --epochs 1 --cache --data-path " +
                                set_ + " --load-weights " + weights_);
  ASSERT_EQ(inferred.exit_code, 0) << inferred.err;
  EXPECT_EQ(inferred.value("mode"), "inference");
  EXPECT_EQ(inferred.value("weights"), weights_);
  EXPECT_EQ(inferred.value("inference_samples"), "10");
  EXPECT_NEAR(inferred.number("inference_loss") / trained.number("evaluation_loss"), 1, 1e-5);
  EXPECT_NEAR(inferred.number("columns_per_second"), 10 / inferred.number("inference_s"), 1e-3);
  EXPECT_NEAR(inferred.number("time_per_sample_s"), inferred.number("inference_s") / 10, 1e-9);
  const double loading_s = inferred.number("data_loading_s");
  EXPECT_NEAR(inferred.number("data_loading_percent"),
              100 * (loading_s + inferred.number("data_wait_s")) /
                  (loading_s + inferred.number("inference_s")),
              1e-3);
  for (const char* time : {"model_loading_s", "data_loading_s", "time_per_batch_p95_s"})
    EXPECT_GT(inferred.number(time), 0) << time;
}

#ifdef BENCH_STEPS_GLOO
TEST_F(Ap3InferenceTest, EndsWellOnRanksWithoutABatch) {
  const std::string arguments =
      small + "--inference --batch-size 5 --epochs 1 --warmup 0 --data-path " + set_;
  const auto ranks = run_ranks(3, AP3_PROGRAM, arguments);
  for (const Outcome& rank : ranks)
    EXPECT_EQ(rank.exit_code, 0) << rank.err;
  EXPECT_EQ(ranks[0].value("inference_samples"), "10");
}

TEST_F(Ap3InferenceTest, RefusesACacheForMoreRanksThanSamples) {
  const std::string few = folder_.file("few");
  ASSERT_EQ(
      run_step(DATASET_PROGRAM, std::string("fields --samples 2 --output ") + few + ap3_columns)
          .exit_code,
      0);
  for (const Outcome& rank :
       run_ranks(3, AP3_PROGRAM,
                 small + "--batch-size 1 --steps 1 --warmup 0 --cache --data-path " + few)) {
    EXPECT_EQ(rank.exit_code, 2);
    EXPECT_THAT(rank.err, HasSubstr("has 2 samples; with --cache each of 3 ranks keeps its own"));
  }
}

TEST(FieldInference, IsSharedByRanksThatEndTogether) {
  const auto ranks = run_ranks(2, AP5_PROGRAM,
                               small +
                                   "--inference --height 16 --width 16 --batch-size 2 --warmup "
                                   "0 --steps 1000000 --time-limit 0.001");
  ASSERT_EQ(ranks[0].exit_code, 0) << ranks[0].err;
  EXPECT_EQ(ranks[1].exit_code, 0) << ranks[1].err;
  EXPECT_EQ(ranks[0].value("weights"), "initial");
  EXPECT_EQ(ranks[0].number("inference_samples"), 4 * ranks[0].number("measured_steps"));
}
#endif

TEST(FieldInference, HasNoOptionsOfTheTraining) {
  const Outcome outcome = run_step(AP5_PROGRAM, "--inference --critic-updates 2");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--critic-updates excludes --inference"));
}

}  // namespace
}  // namespace bench::steps
