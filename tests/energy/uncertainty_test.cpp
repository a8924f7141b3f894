#include "energy/readings.hpp"

#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/integrate.hpp>

namespace bench::energy {
namespace {

struct UncertaintyCase {
  std::string name;
  Timing timing;
  double expected_j;
};
void PrintTo(const UncertaintyCase& c, std::ostream* out) {
  *out << c.name;
}
class UncertaintyTest : public testing::TestWithParam<UncertaintyCase> {};

/// 100 W to 300 W, for 100 s.
TEST_P(UncertaintyTest, MatchesTheHandComputedHalfWidth) {
  EXPECT_DOUBLE_EQ(uncertainty_of(GetParam().timing, 300, 200).half_width_j(100),
                   GetParam().expected_j);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, UncertaintyTest,
    testing::Values(
        UncertaintyCase{"ACounterInSteps", {.interval_s = 0.1, .period_s = 0.1}, 30},
        UncertaintyCase{"ACounterThatIsReadSeldom", {.interval_s = 1, .period_s = 0.001}, 150},
        UncertaintyCase{
            "ACounterThatWasReset", {.interval_s = 0.1, .period_s = 0.1, .missing_s = 2}, 630},
        // Both ends, and 200 W / sqrt(1000 samples) over 100 s.
        UncertaintyCase{"Samples",
                        {.interval_s = 0.1, .period_s = 0.1, .sample_s = 0.1},
                        30 + 632.4555320336759},
        UncertaintyCase{
            "AMeanOverASecond",
            {.interval_s = 0.1, .period_s = 0.1, .averaging_window_s = 1, .sample_s = 0.1},
            105 + 632.4555320336759},
        UncertaintyCase{"SamplesWithAGap",
                        {.interval_s = 0.1, .period_s = 0.1, .sample_s = 0.1, .missing_s = 1},
                        230 + 632.4555320336759}),
    [](const auto& test) { return test.param.name; });

TEST(Uncertainty, TheShortestRunIsKnownToFivePercent) {
  const Uncertainty uncertainty = uncertainty_of(
      {.interval_s = 0.1, .period_s = 0.1, .averaging_window_s = 1, .sample_s = 0.1}, 300, 200);
  const double shortest_s = uncertainty.shortest_run_s(250);
  EXPECT_NEAR(uncertainty.half_width_j(shortest_s), 0.05 * 250 * shortest_s, 1e-9);
}

TEST(Uncertainty, OfManyStretchesGrowsWithTheRootOfTheirNumber) {
  const Uncertainty uncertainty = uncertainty_of({.interval_s = 0.1, .period_s = 0.1}, 300, 200);
  EXPECT_DOUBLE_EQ(uncertainty.half_width_j(100, 25), 150);
}

/// What a window takes from each region has the same sign: a region is always surrounded by others.
TEST(Uncertainty, OfTheWindowGrowsWithTheNumberOfStretches) {
  const Uncertainty uncertainty =
      uncertainty_of({.averaging_window_s = 1, .sample_s = 0.1}, 300, 0);
  EXPECT_DOUBLE_EQ(uncertainty.half_width_j(100, 25), 25 * 75);
}

TEST(Uncertainty, TheShortestRunIsRoundedUpToTwoDigits) {
  const struct {
    double shortest_run_s;
    const char* text;
  } cases[] = {{2, "at least 2 s"},       {2.0001, "at least 2 s"},  {2.04, "at least 2.1 s"},
               {0.05, "at least 0.05 s"}, {121.3, "at least 130 s"}, {600, "at least 600 s"},
               {99.9, "at least 100 s"}};
  for (const auto& [shortest_run_s, text] : cases)
    EXPECT_EQ(at_least(shortest_run_s), text);
}

TEST(ChannelMeter, KnowsTheEnergyOfALongRunBetterThanThatOfAShortOne) {
  Channel channel;
  channel.counter_period_s = 0.1;
  for (const double end_s : {2.0, 200.0}) {
    ChannelMeter meter(channel, 0.1);
    for (double time_s = 0; time_s <= end_s; time_s += 0.1)
      meter.add(time_s, both(100, 100 * time_s));
    meter.close(end_s);
    const ChannelEnergy result = meter.result();
    ASSERT_TRUE(result.uncertainty);
    EXPECT_NEAR(result.uncertainty->half_width_j(end_s), 10, 0.01);
    EXPECT_NEAR(result.uncertainty->shortest_run_s(*result.power_mean_w), 2, 0.01);
  }
}

TEST(ChannelMeter, AnEstimateHasNoErrorBar) {
  Channel channel;
  channel.estimated = true;
  ChannelMeter meter(channel, 0.1);
  meter.add(0, both(100, 0));
  meter.add(10, both(100, 1000));
  meter.close(10);
  EXPECT_TRUE(meter.result().energy_j);
  EXPECT_FALSE(meter.result().uncertainty);
}

}  // namespace
}  // namespace bench::energy
