#include <utility>

#include <gtest/gtest.h>

#include <bench/energy/core/channel_meter.hpp>

namespace bench::energy {
namespace {

TEST(ApparentPower, IsTheMeanOverTimeAndTheHighestReading) {
  ApparentPower apparent(0, 3);
  for (const auto& [time_s, apparent_va] : {std::pair{0.0, 400.0}, {1.0, 400.0}, {2.0, 500.0}})
    apparent.add(time_s, apparent_va);
  apparent.close(2);
  EXPECT_DOUBLE_EQ(apparent.mean_va().value(), 425);
  EXPECT_DOUBLE_EQ(apparent.max_va().value(), 500);
}

TEST(ApparentPower, IsAbsentIfItWasReadableForAPartOnly) {
  ApparentPower apparent(0, 1);
  apparent.add(0, 400);
  apparent.add(1, 400);
  apparent.close(10);
  EXPECT_FALSE(apparent.mean_va());
  EXPECT_FALSE(apparent.max_va());
}

TEST(ApparentPower, IsAbsentWithoutAReading) {
  ApparentPower apparent(0, 1);
  apparent.close(10);
  EXPECT_FALSE(apparent.mean_va());
  EXPECT_FALSE(apparent.max_va());
}

}  // namespace
}  // namespace bench::energy
