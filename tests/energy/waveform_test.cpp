// The invented power of the fake libraries: tests of the sources rely on its closed form.
#include "fake/waveform.hpp"

#include "support/environment_variable.hpp"

#include <ostream>
#include <string>

namespace bench::energy {
namespace {

using support::EnvironmentVariable;

struct WaveformCase {
  std::string name;
  double energy_of_2_5_s_j;
};
void PrintTo(const WaveformCase& shape, std::ostream* out) {
  *out << shape.name;
}
class WaveformTest : public testing::TestWithParam<WaveformCase> {};

TEST_P(WaveformTest, EnergyIsTheIntegralOfPower) {
  const EnvironmentVariable shape("FAKE_TEST_SHAPE", GetParam().name);
  fake::Waveform wave("FAKE_TEST", 1);
  wave.start();
  EXPECT_NEAR(wave.energy_j(2.5), GetParam().energy_of_2_5_s_j, 1e-9);
  constexpr int steps = 250000;
  constexpr double step_s = 2.5 / steps;
  double sum_j = 0;
  for (int i = 0; i < steps; ++i)
    sum_j += wave.power_w((i + 0.5) * step_s) * step_s;
  EXPECT_NEAR(sum_j / wave.energy_j(2.5), 1, 0.001);
}

INSTANTIATE_TEST_SUITE_P(Energy, WaveformTest,
                         testing::Values(WaveformCase{"constant", 625},
                                         WaveformCase{"ramp", 406.25}, WaveformCase{"square", 490},
                                         WaveformCase{"spike", 268}),
                         [](const auto& test) { return test.param.name; });

TEST(Waveform, CounterWrapsAgainAndAgain) {
  const EnvironmentVariable start("FAKE_TEST_COUNTER_J", "900");
  const EnvironmentVariable wrap("FAKE_TEST_WRAP_J", "1000");
  fake::Waveform wave("FAKE_TEST", 1);
  wave.start();
  EXPECT_DOUBLE_EQ(wave.counter_j(0), 900);
  EXPECT_DOUBLE_EQ(wave.counter_j(1), 150);
  EXPECT_DOUBLE_EQ(wave.counter_j(5), 150);
}

TEST(Waveform, CounterIsResetOnce) {
  const EnvironmentVariable reset("FAKE_TEST_RESET_J", "500");
  fake::Waveform wave("FAKE_TEST", 1);
  wave.start();
  EXPECT_DOUBLE_EQ(wave.counter_j(1), 1e6 + 250);
  EXPECT_DOUBLE_EQ(wave.counter_j(3), 250);
  EXPECT_DOUBLE_EQ(wave.counter_j(9), 1750);
}

TEST(Waveform, CounterRunsAtItsOwnRate) {
  const EnvironmentVariable rate("FAKE_TEST_COUNTER_RATE", "0.5");
  fake::Waveform wave("FAKE_TEST", 1);
  wave.start();
  EXPECT_DOUBLE_EQ(wave.counter_j(2) - wave.counter_j(0), 250);
}

TEST(Waveform, TheClockMayBeTheTests) {
  const EnvironmentVariable clock("FAKE_TEST_CLOCK_S", "2.5");
  const EnvironmentVariable gone("FAKE_TEST_GONE_MS", "2500");
  fake::Waveform wave("FAKE_TEST", 1);
  wave.start();
  EXPECT_DOUBLE_EQ(wave.seconds(), 2.5);
  EXPECT_TRUE(wave.is_gone());
  const EnvironmentVariable earlier("FAKE_TEST_CLOCK_S", "2.4");
  EXPECT_FALSE(wave.is_gone());
}

TEST(Waveform, FailsAfterSoManyReadings) {
  const EnvironmentVariable limit("FAKE_TEST_FAIL_AFTER", "2");
  fake::Waveform wave("FAKE_TEST", 15);
  wave.start();
  EXPECT_EQ(wave.next_code(), 0);
  EXPECT_EQ(wave.next_code(), 0);
  EXPECT_EQ(wave.next_code(), 15);
}

TEST(Waveform, ADeviceGoesAfterItsTime) {
  const EnvironmentVariable gone("FAKE_TEST_GONE_MS", "0");
  fake::Waveform wave("FAKE_TEST", 15);
  wave.start();
  EXPECT_TRUE(wave.is_gone());
  EXPECT_EQ(wave.next_code(), 15);
}

}  // namespace
}  // namespace bench::energy
