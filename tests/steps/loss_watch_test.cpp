#include "harness/loss_watch.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

struct LossCase {
  std::string name;
  std::size_t lag;
  std::vector<float> losses;
  std::size_t ends_at;  ///< The step behind which it is known, from 1; 0: it is not.
};
void PrintTo(const LossCase& c, std::ostream* out) {
  *out << c.name;
}
class LossWatchTest : public testing::TestWithParam<LossCase> {};

TEST_P(LossWatchTest, KnowsALostLossSoManyStepsLater) {
  LossWatch watch(GetParam().lag);
  std::size_t ends_at = 0;
  for (std::size_t step = 0; step < GetParam().losses.size() && ends_at == 0; ++step) {
    watch.add(torch::tensor(GetParam().losses[step]));
    if (watch.has_diverged())
      ends_at = step + 1;
  }
  EXPECT_EQ(ends_at, GetParam().ends_at);
}

INSTANTIATE_TEST_SUITE_P(Losses, LossWatchTest,
                         testing::Values(LossCase{"AllAreNumbers", 0, {3, 2, 1e30F}, 0},
                                         LossCase{"AtOnce", 0, {3, NAN, 2}, 2},
                                         LossCase{"TwoStepsLater", 2, {3, infinite, 2, 2, 2}, 4},
                                         LossCase{"TheFirst", 2, {NAN, 2, 2}, 3},
                                         LossCase{"TooLateToBeLookedAt", 2, {3, 2, NAN, 2}, 0}),
                         [](const auto& one) { return one.param.name; });

TEST(LossWatch, KeepsWhatItHasSeen) {
  LossWatch watch(torch::Device(torch::kCPU));
  watch.add(torch::tensor(NAN));
  watch.add(torch::tensor(1.0F));
  EXPECT_TRUE(watch.has_diverged());
}

}  // namespace
}  // namespace bench::steps
