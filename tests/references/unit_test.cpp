#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <bench/references/unit.hpp>

namespace bench::references {
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

}  // namespace
}  // namespace bench::references
