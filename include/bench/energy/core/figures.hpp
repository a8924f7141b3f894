#pragma once

#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>

namespace bench::energy {

/// What a figure is about.
enum class Of {
  total,    ///< All channels that may be added.
  devices,  ///< The GPUs and IPUs among them.
  node,     ///< The node as a whole, by a sensor of its own.
  channel,  ///< One channel.
  run,      ///< The measurement: how long, by what, how good.
  level,    ///< The level of the methodology of the EE HPC WG, and what decides it.
  machine,  ///< The state of the machine meanwhile.
  absence   ///< The reason why the total, or that of a region, is missing.
};

/// How the values of several meters of one run become one.
enum class Combine {
  sum,
  mean,     ///< Of nodes, or of devices of which each node has as many.
  by_time,  ///< The mean, weighted by the durations.
  highest,
  lowest,
  worst,  ///< Of the words for the quality.
  names,  ///< Each name once, separated by commas.
  texts   ///< Each text once, separated by semicolons.
};

/// A value that the meter writes into energy.txt, and that result tables can show without a
/// pattern.
struct Figure {
  std::string_view name;  ///< With `*` for the name of a region or channel.
  Of of;
  Combine at_once;      ///< Of meters on several nodes, or of several ranks.
  Combine in_sequence;  ///< Of meters that ran one after the other.
  /// If it is missing, a table says why.
  bool is_expected = false;
  /// The reason why some machines do not have it; empty for figures of all machines.
  std::string_view without = "";
  /// Set if the figure says how good the other values are: the label of its note below a table.
  std::string_view remark = "";

  /// It is a value, and not the reason for a missing one.
  bool is_value() const { return of != Of::absence; }
  bool is_text() const { return at_once >= Combine::worst; }
  /// It describes the measurement, not the program.
  bool is_about_measuring() const;
  /// It is not a figure of a region or a channel.
  bool has_fixed_name() const { return name.find('*') == std::string_view::npos; }
  bool is_of_region() const { return name.find("region_*") != std::string_view::npos; }
  /// The region or channel in a name of this figure, empty for a fixed name; nullopt if `its_name`
  /// names another figure.
  std::optional<std::string_view> owner_in(std::string_view its_name) const;
  /// Its name for a region or a channel.
  std::string name_for(std::string_view owner) const;
};

/// All of them, in the order in which they are suggested. To add one is to add a row, and to write
/// it into energy.txt (report.cpp).
std::span<const Figure> figures();

inline auto remarks() {
  return std::views::filter(figures(), [](const Figure& figure) { return !figure.remark.empty(); });
}

/// Finds a figure by its name, for example `energy_region_train_wh`; null if there is none.
const Figure* figure_of(std::string_view name);

/// The unit by the end of the name, `Wh` for `energy_wh`; empty if it has none.
std::string unit_of(std::string_view name);

}  // namespace bench::energy
