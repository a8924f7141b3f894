#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <bench/model/meter_names.hpp>

namespace bench::model {

std::string unit_of_meter(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, const char*>, 7> units{{{"_wh", "Wh"},
                                                                           {"_w", "W"},
                                                                           {"_va", "VA"},
                                                                           {"_s", "s"},
                                                                           {"_j", "J"},
                                                                           {"_mhz", "MHz"},
                                                                           {"_c", "°C"}}};
  for (const auto& [suffix, unit] : units)
    if (name.ends_with(suffix))
      return unit;
  return "";
}

bool is_about_measuring(std::string_view name) {
  constexpr std::array<std::string_view, 3> others{"energy_nodes", "energy_gap_s", "energy_level"};
  return name.starts_with("machine_") ||
         (name.starts_with("energy_") && name.ends_with("_uncertainty_wh")) ||
         std::ranges::find(others, name) != others.end();
}

}  // namespace bench::model
