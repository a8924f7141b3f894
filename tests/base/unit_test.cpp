#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/unit.hpp>

namespace bench::unit {
namespace {

struct UnitCase {
  std::string from;
  std::string to;
  double factor;
};

TEST(ConversionFactor, IsThatOfUnitsOfOneKind) {
  const UnitCase cases[] = {
      {"s", "s", 1},
      {"min", "s", 60},
      {"ms", "min", 1e-3 / 60},
      {"Wh", "J", 3600},
      {"kJ", "Wh", 1 / 3.6},
      {"W*h", "Wh", 1},
      {"MB/s", "GB/s", 1e-3},
      {"GB/min", "MB/s", 1e3 / 60},
      {"MiB", "MB", 1.048576},
      {"MJ s", "MJ*s", 1},
      {"MJ·s", "kJ*min", 1e3 / 60},
      {"TFLOP/s", "GFLOP/s", 1e3},
      {"GFLOPS", "TFLOP/s", 1e-3},
      {"Gflops", "GFLOPS", 1},
      {"images/sec", "images/s", 1},
      {"FPS", "frames/s", 1},
      {"ns/day", "s/s", 1e-9 / 86400},
      {"images/Wh", "images/kWh", 1e3},
      {"h*acc", "min*acc", 60},
      {"VA h", "VAh", 1},
      {"%", "", 0.01},
      {"x", "", 1},
      {"1/s", "1/min", 60},
      {"tokens/s/device", "tokens/device/s", 1},
  };
  for (const UnitCase& one : cases) {
    const auto factor = conversion_factor(one.from, one.to);
    ASSERT_TRUE(factor) << one.from << " to " << one.to;
    EXPECT_NEAR(*factor, one.factor, 1e-12 * one.factor) << one.from << " to " << one.to;
  }
}

TEST(ConversionFactor, DoesNotExistBetweenDifferentThings) {
  for (const auto& [from, to] : {std::pair{"s", "Wh"},
                                 {"", "s"},
                                 {"MB/s", "MB"},
                                 {"W", "VA"},
                                 {"tokens/s", "sequences/s"},
                                 {"s", "S"},
                                 {"h", "h*acc"}})
    EXPECT_EQ(conversion_factor(from, to), std::nullopt) << from << " to " << to;
}

TEST(Unit, ReadsPowers) {
  EXPECT_EQ(conversion_factor("s^2", "s*s"), 1);
  EXPECT_EQ(conversion_factor("kJ*s^-1", "W"), 1e3);
  EXPECT_EQ(conversion_factor("ms^2", "s^2"), 1e-6);
  EXPECT_EQ(conversion_factor("m^x", "s"), std::nullopt);
}

TEST(Unit, HasArithmetic) {
  EXPECT_EQ((Unit("GB/s") / Unit("W")).simplified().text(), "GB/J");
  EXPECT_EQ((Unit("tokens/s") * Unit("h")).simplified().text(), "tokens");
  EXPECT_EQ((Unit("W") * Unit("h")).simplified().text(), "Wh");
  EXPECT_EQ((Unit("s") * Unit("GPU")).simplified(std::vector<std::string_view>{"h"}).text(),
            "h*GPU");
  EXPECT_EQ((Unit() / Unit("ms")).simplified().text(), "1/ms");
  EXPECT_TRUE((Unit("min") / Unit("s")).is_number());
  EXPECT_EQ((Unit("min") / Unit("s")).factor(), 60);
}

TEST(Unit, NamesEachWordOnce) {
  EXPECT_EQ((Unit("GB/s") * Unit("s")).text(), "GB");
  EXPECT_EQ((Unit("s") * Unit("s")).text(), "s^2");
}

TEST(Unit, HasATextThatIsThatUnit) {
  const Unit high = Unit("s").to_the_power(most_power);
  EXPECT_EQ(high.text(), "s^99");
  EXPECT_TRUE(Unit("s^99").is_convertible_to(high));
}

TEST(Unit, StaysAsItIsWrittenWhereNothingIsSimpler) {
  for (const char* text :
       {"W", "kW", "tokens/s/device", "1/s", "GB/J", "images/Wh", "MJ*s", "TFLOP/s", "GFLOPS"})
    EXPECT_EQ(Unit(text).simplified().text(), text);
}

TEST(Unit, SuggestsAKnownOne) {
  EXPECT_EQ(suggestion("kwh"), "did you mean 'kWh'?");
  EXPECT_EQ(suggestion("images/Wh"), "");
}

}  // namespace
}  // namespace bench::unit
