#include "energy/gpu_metrics_table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <bench/energy/sources/amd.hpp>

namespace bench::energy {
namespace {

constexpr std::uint16_t power_w = 456;
constexpr std::uint64_t count = 0x0000'0012'3456'789a;
constexpr std::uint64_t time_ns = 98'765'432'100;

std::optional<AmdValues> parse(const MetricsTable& table, std::string& failure) {
  return parse_gpu_metrics(table.bytes(), failure);
}

struct Layout {
  std::string name;
  unsigned char content;
  std::size_t power;
  std::size_t energy;
  std::size_t clock;
};
void PrintTo(const Layout& layout, std::ostream* out) {
  *out << layout.name;
}
class GpuMetricsTest : public testing::TestWithParam<Layout> {};

TEST_P(GpuMetricsTest, HasPowerEnergyAndTimeAtTheirPlaces) {
  const Layout& layout = GetParam();
  MetricsTable table(1, layout.content);
  table.put(layout.power, power_w).put(layout.energy, count).put(layout.clock, time_ns);
  std::string failure;
  const auto values = parse(table, failure);
  ASSERT_TRUE(values) << failure;
  EXPECT_EQ(values->power_w, 456);
  EXPECT_EQ(values->energy_count, count);
  EXPECT_DOUBLE_EQ(*values->time_s, 98.7654321);
}

TEST_P(GpuMetricsTest, AllOnesAreNotAvailable) {
  std::string failure;
  const auto values = parse(MetricsTable(1, GetParam().content), failure);
  ASSERT_TRUE(values) << failure;
  EXPECT_FALSE(values->power_w || values->energy_count || values->time_s);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, GpuMetricsTest,
    testing::Values(Layout{"V1_1", 1, 22, 24, 32}, Layout{"V1_2", 2, 22, 24, 32},
                    Layout{"V1_3", 3, 22, 24, 32}, Layout{"V1_4", 4, 10, 24, 32},
                    Layout{"V1_5", 5, 10, 88, 96}, Layout{"V1_6", 6, 10, 16, 24},
                    Layout{"V1_7", 7, 10, 24, 32}, Layout{"V1_8", 8, 10, 24, 32}),
    [](const auto& test) { return test.param.name; });

TEST(GpuMetrics, TheFirstTableHasAnAccumulatorOf32Bits) {
  MetricsTable table(1, 0);
  table.put(8, time_ns).put(34, power_w).put(36, std::uint32_t{123456789});
  std::string failure;
  EXPECT_EQ(parse(table, failure)->energy_count, 123456789U);
  table.put(36, std::uint32_t{0xffffffff});
  EXPECT_FALSE(parse(table, failure)->energy_count);
}

struct BadTable {
  std::string name;
  MetricsTable table;
  std::string failure;
};
void PrintTo(const BadTable& bad, std::ostream* out) {
  *out << bad.name;
}
class BadMetricsTest : public testing::TestWithParam<BadTable> {};

TEST_P(BadMetricsTest, IsRefusedWithAReason) {
  std::string failure;
  EXPECT_FALSE(parse(GetParam().table, failure));
  EXPECT_EQ(failure, GetParam().failure);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, BadMetricsTest,
    testing::Values(BadTable{"OfAnApu", MetricsTable(2, 3), "table v2.3 is not known"},
                    BadTable{"OfTheFuture", MetricsTable(1, 9), "table v1.9 is not known"},
                    BadTable{"CutShort", MetricsTable(1, 3).put(0, std::uint16_t{200}),
                             "128 bytes are not a whole table"},
                    BadTable{"WithoutAHeader", MetricsTable(1, 3).put(0, std::uint16_t{0}),
                             "128 bytes are not a whole table"}),
    [](const auto& test) { return test.param.name; });

TEST(GpuMetrics, AnEmptyFileIsNoTable) {
  std::string failure;
  EXPECT_FALSE(parse_gpu_metrics({}, failure));
  EXPECT_EQ(failure, "0 bytes are not a whole table");
}

TEST(GpuMetrics, WhatLiesBehindTheStatedSizeIsNotRead) {
  MetricsTable table = table_1_3(power_w, count, time_ns);
  table.put(0, std::uint16_t{24});
  std::string failure;
  const auto values = parse(table, failure);
  EXPECT_EQ(values->power_w, 456);
  EXPECT_FALSE(values->energy_count);
}

}  // namespace
}  // namespace bench::energy
