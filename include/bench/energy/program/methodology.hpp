#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bench::energy {

/// What decides which level of the EE HPC WG's methodology a measurement reaches.
struct Measured {
  int nodes = 0;             ///< That are measured as a whole.
  bool parts = false;        ///< GPUs or processors beside them are measured without their node.
  double power_mean_w = 0;   ///< Of all together.
  double longest_gap_s = 0;  ///< Without a value.
};

/// The level of a measurement, 0 to 1, and what keeps it from a higher one.
struct MethodologyLevel {
  int level = 0;
  std::string limit;  ///< The aspect, and what it lacks.
};

/// The worst of the four aspects decides. Levels 2 and 3 ask for the accuracy of the meters, the
/// losses of the power supplies, and the network and storage, none of which the meter can know.
/// Source: Energy Efficient HPC Working Group, Power Measurement Methodology, version 2.0.
MethodologyLevel methodology_level(const Measured& measured);

/// The lines of a summary: `energy_nodes` and `energy_gap_s`, from which those of several meters
/// are computed again, `energy_level` and `energy_level_limit`.
std::vector<std::pair<std::string, std::string>> methodology_summary(const Measured& measured);

}  // namespace bench::energy
