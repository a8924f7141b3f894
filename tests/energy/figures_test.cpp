#include <ostream>
#include <set>
#include <string>
#include <string_view>

#include <gmock/gmock.h>

#include <bench/energy/core/figures.hpp>

namespace bench::energy {
namespace {

struct FigureCase {
  std::string_view name;
  std::string_view figure;  ///< Empty: none.
  std::string_view owner = "";
};
void PrintTo(const FigureCase& one, std::ostream* out) {
  *out << one.name;
}
class FigureTest : public testing::TestWithParam<FigureCase> {};

TEST_P(FigureTest, IsFoundByItsName) {
  const auto& [name, expected, owner] = GetParam();
  const Figure* const figure = figure_of(name);
  ASSERT_EQ(figure ? figure->name : "", expected);
  if (figure) {
    EXPECT_EQ(figure->owner_in(name), owner);
    EXPECT_EQ(figure->name_for(owner), name);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Names, FigureTest,
    testing::Values(FigureCase{"energy_wh", "energy_wh"},
                    FigureCase{"energy_gpu0_wh", "energy_*_wh", "gpu0"},
                    FigureCase{"energy_gpu0_uncertainty_wh", "energy_*_uncertainty_wh", "gpu0"},
                    FigureCase{"energy_region_a_wh", "energy_region_*_wh", "a"},
                    FigureCase{"energy_region_a_uncertainty_wh", "energy_region_*_uncertainty_wh",
                               "a"},
                    FigureCase{"energy_devices_region_a_wh", "energy_devices_region_*_wh", "a"},
                    FigureCase{"power_region_a_b_w", "power_region_*_w", "a_b"},
                    FigureCase{"duration_region_a_s", "duration_region_*_s", "a"},
                    FigureCase{"energy_region_a_absent", "energy_region_*_absent", "a"},
                    FigureCase{"energy_whh", ""}, FigureCase{"energy__wh", ""},
                    FigureCase{"power_region__w", ""}, FigureCase{"", ""}),
    [](const auto& one) { return "Case" + std::to_string(one.index); });

TEST(Figures, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Figure& figure : figures())
    EXPECT_TRUE(names.insert(figure.name).second) << figure.name;
}

}  // namespace
}  // namespace bench::energy
