#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/energy/program/combine.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/report.hpp>

namespace bench::energy {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct MethodologyCase {
  std::string name;
  Measured measured;
  int level;
  std::string aspect;
};
void PrintTo(const MethodologyCase& c, std::ostream* out) {
  *out << c.name;
}
class MethodologyTest : public testing::TestWithParam<MethodologyCase> {};

TEST_P(MethodologyTest, TheWorstAspectDecides) {
  const MethodologyLevel level = methodology_level(GetParam().measured);
  EXPECT_EQ(level.level, GetParam().level);
  EXPECT_THAT(level.limit, HasSubstr(GetParam().aspect));
}

INSTANTIATE_TEST_SUITE_P(
    Energy, MethodologyTest,
    testing::Values(MethodologyCase{"GpusAlone",
                                    {.parts = true, .power_mean_w = 3000},
                                    0,
                                    "subsystems: the nodes are not measured as a whole"},
                    MethodologyCase{"ASlowMeter",
                                    {.nodes = 16, .power_mean_w = 9000, .longest_gap_s = 5},
                                    0,
                                    "granularity: 5 s without a value"},
                    MethodologyCase{"OneNode",
                                    {.nodes = 1, .power_mean_w = 2500, .longest_gap_s = 0.2},
                                    0,
                                    "machine fraction: 2.5 kW on 1 node,"},
                    MethodologyCase{"LittlePower",
                                    {.nodes = 16, .power_mean_w = 1900, .longest_gap_s = 0.2},
                                    0,
                                    "machine fraction: 1.9 kW on 16 nodes,"},
                    MethodologyCase{"ManyNodes",
                                    {.nodes = 15, .power_mean_w = 9000, .longest_gap_s = 0.2},
                                    1,
                                    "level 1 if this is a tenth of the machine"}),
    [](const auto& test) { return test.param.name; });

TEST(CombineSummaries, HaveTheLevelOfAllNodesTogether) {
  std::vector<NameValue> node{{"energy_wh", "1"}, {"power_mean_w", "600"}};
  for (const auto& line : methodology_summary({.nodes = 1, .power_mean_w = 600}))
    node.push_back(line);
  EXPECT_THAT(node, Contains(NameValue{"energy_level", "0"}));
  const auto all = combine_summaries(std::vector<std::vector<NameValue>>(16, node));
  EXPECT_THAT(all, Contains(NameValue{"energy_nodes", "16"}));
  EXPECT_THAT(all, Contains(NameValue{"energy_level", "1"}));
}

}  // namespace
}  // namespace bench::energy
