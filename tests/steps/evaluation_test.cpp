#include "harness/evaluation.hpp"

#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

class EvaluationTest : public testing::Test {
 protected:
  std::optional<Evaluated> evaluated(std::int64_t steps) {
    return evaluate(
        context_, steps, [&] { return static_cast<float>(drawn_++); },
        [&](float batch) {
          passed_.push_back(batch);
          has_gradients_ = has_gradients_ || torch::GradMode::is_enabled();
          return torch::tensor({batch, 10 * batch});
        });
  }

  Communicator alone_;
  TrainingContext context_{.ranks = alone_, .device = torch::kCPU};
  int drawn_ = 0;
  std::vector<float> passed_;
  bool has_gradients_ = false;
};

TEST_F(EvaluationTest, HasTheMeansOfTheNumbersOfAllBatches) {
  EXPECT_THAT(evaluated(4).value().means, ElementsAre(DoubleEq(1.5), DoubleEq(15)));
}

TEST_F(EvaluationTest, PassesTheFirstBatchOnceMoreBefore) {
  evaluated(3);
  EXPECT_THAT(passed_, ElementsAre(0, 0, 1, 2));
  EXPECT_EQ(drawn_, 3);
}

TEST_F(EvaluationTest, NeedsNoGradients) {
  evaluated(1);
  EXPECT_FALSE(has_gradients_);
  EXPECT_TRUE(torch::GradMode::is_enabled());
}

}  // namespace
}  // namespace bench::steps
