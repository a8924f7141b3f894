#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/energy/program/methodology.hpp>

namespace bench::energy {
namespace {

// Level 1: a reading per second, of the compute nodes, of at least so many of them and so much.
constexpr double level_1_gap_s = 1;
constexpr int level_1_nodes = 15;
constexpr double level_1_power_w = 2000;

}  // namespace

MethodologyLevel methodology_level(const Measured& measured) {
  if (measured.nodes == 0 || measured.parts)
    return {.level = 0, .limit = "subsystems: the nodes are not measured as a whole"};
  if (measured.longest_gap_s > level_1_gap_s)
    return {.level = 0,
            .limit = fmt::format("granularity: {:.3g} s without a value, and level 1 needs one per "
                                 "second",
                                 measured.longest_gap_s)};
  if (measured.nodes < level_1_nodes || measured.power_mean_w < level_1_power_w)
    return {.level = 0,
            .limit = fmt::format(
                "machine fraction: {:.3g} kW on {} node{}, and level 1 needs 2 kW, "
                "15 nodes and a tenth of the machine, or all of it",
                measured.power_mean_w / 1000, measured.nodes, measured.nodes == 1 ? "" : "s")};
  return {.level = 1,
          .limit =
              "machine fraction: level 1 if this is a tenth of the machine; level 2 also needs "
              "network and storage, and meters within 2 %"};
}

std::vector<std::pair<std::string, std::string>> methodology_summary(const Measured& measured) {
  const MethodologyLevel level = methodology_level(measured);
  return {{"energy_nodes", std::to_string(measured.parts ? 0 : measured.nodes)},
          {"energy_gap_s", fmt::format("{:.4g}", measured.longest_gap_s)},
          {"energy_level", std::to_string(level.level)},
          {"energy_level_limit", level.limit}};
}

}  // namespace bench::energy
