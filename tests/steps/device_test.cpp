#include "harness/device.hpp"

#include <optional>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::ElementsAre;
using Values = std::vector<double>;
using Numbers = std::optional<Values>;

TEST(LaggedNumbers, AreKnownAtOnceOnTheCpu) {
  LaggedNumbers numbers(torch::Device{torch::kCPU});
  EXPECT_EQ(numbers.add(torch::tensor({3.0F, 1.0F})), Numbers(Values{3, 1}));
  EXPECT_EQ(numbers.take(), std::nullopt);
}

TEST(LaggedNumbers, AreKnownSoManyStepsLater) {
  LaggedNumbers numbers(2);
  std::vector<Numbers> known;
  for (const float value : {1.0F, 2.0F, 3.0F, 4.0F})
    known.push_back(numbers.add(torch::tensor({value})));
  EXPECT_THAT(known,
              ElementsAre(std::nullopt, std::nullopt, Numbers(Values{1}), Numbers(Values{2})));
}

TEST(LaggedNumbers, AreAllTakenAtTheEnd) {
  LaggedNumbers numbers(2);
  numbers.add(torch::tensor({1}));
  numbers.add(torch::tensor({2}));
  EXPECT_EQ(numbers.take(), Numbers(Values{1}));
  EXPECT_EQ(numbers.take(), Numbers(Values{2}));
  EXPECT_EQ(numbers.take(), std::nullopt);
}

}  // namespace
}  // namespace bench::steps
