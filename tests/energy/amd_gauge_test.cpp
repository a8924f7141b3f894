#include <cmath>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include <bench/energy/sources/amd.hpp>

namespace bench::energy {
namespace {

AmdValues readings(std::optional<double> power_w, std::optional<double> energy_j, double time_s) {
  constexpr double counts_per_joule = 65536;
  AmdValues result;
  result.power_w = power_w;
  if (energy_j)
    result.energy_count = static_cast<std::uint64_t>(*energy_j * counts_per_joule);
  result.time_s = time_s;
  return result;
}

TEST(AmdGauge, CountsInUnitsOf15Point2588Microjoules) {
  AmdGauge gauge;
  AmdValues values;
  values.energy_count = 1'000'000'000'000;
  values.time_s = 1;
  // With the resolution of 15.3 uJ that the libraries tell it would be 15.3 MJ, 0.27 % more.
  EXPECT_DOUBLE_EQ(*gauge.reading(values, 0).energy_j, 15258789.0625);
}

TEST(AmdGauge, ZeroIsNoValue) {
  AmdGauge gauge;
  const Reading reading = gauge.reading(readings(0, 0, 1), 0);
  EXPECT_FALSE(reading.power_w || reading.energy_j);
  EXPECT_EQ(reading.failure, "shows neither power nor energy");
  EXPECT_TRUE(is_silent(readings(0, 0, 1)));
  EXPECT_TRUE(is_silent({}));
  EXPECT_FALSE(is_silent(readings({}, 1, 1)));
  EXPECT_FALSE(is_silent(readings(1, {}, 1)));
}

TEST(AmdGauge, TheImpossibleIsNoValue) {
  AmdGauge gauge;
  EXPECT_FALSE(gauge.reading(readings(65534, {}, 1), 0).power_w);
}

TEST(AmdGauge, GoesOnOverTheEndOfA32BitAccumulator) {
  AmdGauge gauge;
  const double first_j = *gauge.reading(readings(300, 65500, 10), 0).energy_j;
  const double second_j = *gauge.reading(readings(300, 24, 10.2), 0).energy_j;
  const double third_j = *gauge.reading(readings(300, 84, 10.4), 0).energy_j;
  EXPECT_DOUBLE_EQ(second_j - first_j, 60);
  EXPECT_DOUBLE_EQ(third_j - second_j, 60);
}

TEST(AmdGauge, WrapsAsOftenAsItTakes) {
  AmdGauge gauge;
  const double power_w = 400;
  double last_j = *gauge.reading(readings(power_w, 100, 0), 0).energy_j;
  const double first_j = last_j;
  for (int s = 10; s <= 1000; s += 10) {
    const double shown_j = std::fmod(100 + power_w * s, 65536);
    const double energy_j = *gauge.reading(readings(power_w, shown_j, s), 0).energy_j;
    EXPECT_NEAR(energy_j - last_j, power_w * 10, 1e-3);
    last_j = energy_j;
  }
  EXPECT_NEAR((last_j - first_j) / (power_w * 1000), 1, 0.001);
}

TEST(AmdGauge, AStepBackThatNoPowerExplainsShowsAsAReset) {
  AmdGauge gauge;
  const double first_j = *gauge.reading(readings(300, 30000, 10), 0).energy_j;
  EXPECT_LT(*gauge.reading(readings(300, 5, 10.1), 0).energy_j, first_j);
}

TEST(AmdGauge, AWideAccumulatorNeverWraps) {
  AmdGauge gauge;
  const double first_j = *gauge.reading(readings(300, 65537, 10), 0).energy_j;
  EXPECT_LT(*gauge.reading(readings(300, 65530, 100), 0).energy_j, first_j);
}

TEST(AmdGauge, WithoutPowerTakesItFromTheCounterOverTheDriversClock) {
  AmdGauge gauge;
  EXPECT_FALSE(gauge.reading(readings({}, 1000, 5), 77).power_w);
  EXPECT_FALSE(gauge.reading(readings({}, 1001, 5.005), 78).power_w);  // too soon to divide
  EXPECT_NEAR(*gauge.reading(readings({}, 1006, 5.02), 79).power_w, 300, 1e-6);
  EXPECT_FALSE(gauge.reading(readings({}, 1006, 5.02), 99).power_w);  // the driver's table again
}

TEST(AmdGauge, WithoutTheDriversClockTakesTheHosts) {
  AmdGauge gauge;
  AmdValues first = readings({}, 1000, 0);
  AmdValues second = readings({}, 1300, 0);
  first.time_s.reset();
  second.time_s.reset();
  gauge.reading(first, 50);
  EXPECT_DOUBLE_EQ(*gauge.reading(second, 51).power_w, 300);
}

TEST(AmdGauge, AMissingPowerOfASensorIsAGapNotASlope) {
  AmdGauge gauge;
  gauge.reading(readings(250, 1000, 1), 0);
  const Reading reading = gauge.reading(readings({}, 1250, 2), 0);
  EXPECT_FALSE(reading.power_w);
  EXPECT_TRUE(reading.energy_j);
}

}  // namespace
}  // namespace bench::energy
