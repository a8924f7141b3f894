#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace bench::model {

/// The unit of a value of the meter, `energy_wh` or `machine_gpu_clock_mhz`, by the end of its
/// name; empty where it has none.
std::string unit_of_meter(std::string_view name);

/// Whether a value of the meter tells how something was measured (`energy_gap_s`, an error bar, the
/// state of the machine), and is none of the program's.
bool is_about_measuring(std::string_view name);

/// Names of values that the meter writes in any run.
std::span<const std::string_view> meter_names();

/// True for a value of the meter or a statistic of one. Names of devices and regions are not known
/// before the run, so any `energy_DEVICE_wh` is one.
bool is_of_meter(std::string_view name);

/// True for a value of the meter that is a text.
bool is_text_of_meter(std::string_view name);

/// A text of the meter that says how good the values of a workpackage are.
struct Remark {
  std::string_view name;
  std::string_view what;  ///< In front of it, below a table.
};
inline constexpr std::array<Remark, 4> remarks{{{"energy_too_short", "too short"},
                                                {"energy_paused", "meter stopped"},
                                                {"energy_shared", "not in the total"},
                                                {"machine_disturbance", "not quiet"}}};

}  // namespace bench::model
