#include "harness/evaluation.hpp"

#include "harness/quality.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

class EvaluationTest : public testing::Test {
 protected:
  /// Batches of two samples, whose number is that of the batch.
  std::optional<Evaluated> evaluated(std::int64_t samples) {
    return evaluate(
        context_, {.samples = samples, .batch_size = 2},
        [&] { return static_cast<float>(drawn_++); },
        [&](float batch, std::int64_t count) {
          passed_.push_back(batch);
          counts_.push_back(count);
          has_gradients_ = has_gradients_ || torch::GradMode::is_enabled();
          return torch::tensor({batch, 10 * batch});
        });
  }

  Communicator alone_;
  TrainingContext context_{.ranks = alone_, .device = torch::kCPU};
  int drawn_ = 0;
  std::vector<float> passed_;
  std::vector<std::int64_t> counts_;
  bool has_gradients_ = false;
};

TEST_F(EvaluationTest, HasTheMeansOfTheNumbersOfAllBatches) {
  EXPECT_THAT(evaluated(8).value().means, ElementsAre(DoubleEq(1.5), DoubleEq(15)));
}

TEST_F(EvaluationTest, WeighsALastBatchOfFewerSamplesByTheirNumber) {
  EXPECT_THAT(evaluated(3).value().means, ElementsAre(DoubleEq(1 / 3.0), DoubleEq(10 / 3.0)));
  EXPECT_THAT(counts_, ElementsAre(2, 2, 1));
}

TEST_F(EvaluationTest, PassesTheFirstBatchOnceMoreBefore) {
  evaluated(6);
  EXPECT_THAT(passed_, ElementsAre(0, 0, 1, 2));
  EXPECT_EQ(drawn_, 3);
}

TEST_F(EvaluationTest, NeedsNoGradients) {
  evaluated(2);
  EXPECT_FALSE(has_gradients_);
  EXPECT_TRUE(torch::GradMode::is_enabled());
}

TEST(Quality, IsBetterThanNone) {
  for (const bool lower : {true, false}) {
    const QualityOptions options{.metric = "quality", .lower_is_better = lower};
    EXPECT_TRUE(options.is_better(0.5, std::nan("")));
    EXPECT_FALSE(options.is_better(std::nan(""), 0.5));
  }
}

struct EvaluationShareCase {
  std::string name;
  EvaluationShare share;
  std::int64_t steps;
  std::int64_t of_the_last;
};
TEST(EvaluationShare, HasTheSamplesOfItsRank) {
  const EvaluationShareCase cases[] = {
      {"Whole", {.samples = 8, .batch_size = 4, .rank = 0, .ranks = 2}, 1, 4},
      {"PartOfABatch", {.samples = 14, .batch_size = 4, .rank = 1, .ranks = 2}, 2, 2},
      {"Nothing", {.samples = 11, .batch_size = 4, .rank = 1, .ranks = 2}, 2, 0},
      {"OneSample", {.samples = 1, .batch_size = 4, .rank = 0, .ranks = 2}, 1, 1}};
  for (const EvaluationShareCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(c.share.steps(), c.steps);
    EXPECT_EQ(c.share.count(c.steps - 1), c.of_the_last);
  }
}

}  // namespace
}  // namespace bench::steps
