#include <chrono>
#include <ostream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <bench/base/error.hpp>
#include <bench/energy/meter/channel.hpp>
#include <bench/energy/meter/ticks.hpp>
#include <bench/energy/sources/mock.hpp>

namespace bench::energy {
namespace {

struct Case {
  std::string name;
  std::string shape;
  double low_w;
  double high_w;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}
class MockTest : public testing::TestWithParam<Case> {};

TEST_P(MockTest, CounterIsTheIntegralOfThePower) {
  const auto source = open_mock(GetParam().shape);
  Reading last;
  source->read({&last, 1});
  auto last_time = Clock::now();
  double sum_j = 0;
  for (int i = 0; i < 400; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    Reading now;
    source->read({&now, 1});
    const auto time = Clock::now();
    EXPECT_GE(*now.power_w, GetParam().low_w);
    EXPECT_LE(*now.power_w, GetParam().high_w);
    const double dt_s = std::chrono::duration<double>(time - last_time).count();
    // Between two readings the counter advances by what the extremes of the shape allow.
    EXPECT_GE(*now.energy_j - *last.energy_j, GetParam().low_w * dt_s * 0.9 - 0.5);
    sum_j += (*last.power_w + *now.power_w) / 2 * dt_s;
    last = now;
    last_time = time;
  }
  EXPECT_NEAR(*last.energy_j / sum_j, 1, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Energy, MockTest,
                         testing::Values(Case{"Constant", "constant=100W", 100, 100},
                                         Case{"Ramp", "ramp=50W/20W", 50, 1e6},
                                         Case{"Square", "square=100W/300W/20ms", 100, 300}),
                         [](const auto& test) { return test.param.name; });

TEST(Mock, ALostDeviceStaysLost) {
  const auto source = open_mock("lost=100W/1us");
  Reading first;
  source->read({&first, 1});
  EXPECT_DOUBLE_EQ(*first.power_w, 100);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  Reading second;
  source->read({&second, 1});
  EXPECT_TRUE(second.lost);
  EXPECT_FALSE(second.power_w);
}

TEST(Mock, RejectsWhatItDoesNotKnow) {
  for (const char* shape : {"", "constant", "constant=100", "square=1W/2W", "sine=1W"})
    EXPECT_THROW(open_mock(shape), Error) << shape;
}

}  // namespace
}  // namespace bench::energy
