#pragma once

#include "regex.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/value.hpp>
#include <bench/energy/core/figures.hpp>
#include <bench/results/group.hpp>

namespace bench::results {

/// The name under which bench-energy leaves its summary in a work directory.
inline constexpr std::string_view energy_file_name = "energy.txt";

/// The meter's summaries of one group, one per workpackage.
class EnergyReadings {
 public:
  /// Takes in one summary; nothing stands for a file that should be there and is not.
  void add(const std::optional<Subject>& summary);

  /// Counts a workpackage whose summary, if there is one, must not be used.
  void leave_out(const std::string& reason);

  /// Adds the findings. A name that only some of the workpackages have keeps the statistics over
  /// those, but has no sums: the total of a part would pass for the whole. Totals, and energy and
  /// power of regions whose duration is known, are absent where the meter gave no value.
  /// @param skip names that patterns claim
  void add_to(FoundValues& findings, const std::set<std::string, std::less<>>& skip,
              const LookedUp& is_looked_up) const;

 private:
  void add_line(const std::string& name, const std::string& text);
  void add_reason(const std::string& reason);
  std::string reason_of(const std::string& name) const;
  /// Why a figure that only some machines have is missing.
  std::string reason_without(const energy::Figure& figure) const;
  /// What every measured workpackage has, or a reason why not.
  std::set<std::string> expected() const;

  std::size_t workpackages_ = 0;
  bool estimated_ = false;
  std::map<std::string, std::vector<Value>> values_;
  std::vector<std::string> reasons_;                   ///< Why totals are absent; each once.
  std::map<std::string, std::string> region_reasons_;  ///< Why regions have none, by their names.
};

/// Why energy or power of a region (`energy_region_<name>_wh`, `power_region_<name>_w`, or a
/// statistic of one) is not among the findings: a meter without a total may know of no region, or
/// have written nothing, and then the reason is that of the total.
/// @returns empty if `name` is none of these, or the total is there
std::string absence_of_region(std::string_view name, const FoundValues& findings);

}  // namespace bench::results
