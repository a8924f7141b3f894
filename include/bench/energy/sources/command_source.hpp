#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bench/energy/core/power_source.hpp>

namespace bench::energy {

/// A meter that is read by a command.
struct MeterCommand {
  std::string name;  ///< Letters, digits, `_`, `-` and `.`.
  double interval_s = 1;
  std::vector<std::string> arguments;
};

/// Reads `NAME=COMMAND` or `NAME/5s=COMMAND`, where a shell runs the command.
/// @throws bench::Error if it is neither
MeterCommand parse_meter_command(const std::string& text);

/// One line of a meter's output.
struct MeterLine {
  double power_w = 0;
  std::optional<double> apparent_va = {};

  bool operator==(const MeterLine&) const = default;
};

/// What one line of output tells. The watts: a number, alone or with W or kW; the line
/// `Instantaneous power reading` of `ipmitool dcmi power reading`, or `Current Power` of `ipmi-dcmi
/// --get-system-power-statistics`. Nothing where it says 0 W, as BMCs do that announce DCMI and do
/// not have it, or less, as PDUs do for an outlet without a meter. Behind the watts the apparent
/// power may follow, `412 W 431 VA`. Sources: ipmitool(1), ipmi-dcmi(8); DCMI specification 1.5,
/// Get Power Reading.
std::optional<MeterLine> meter_line(std::string_view line);

/// The node as the command's meter sees it: `command:NAME`. Readings are held until the next one,
/// see `CommandReader`; so the channel's averaging window is the interval.
/// @throws bench::Error with what the command said if its first reading is none
std::unique_ptr<PowerSource> open_command(const MeterCommand& command);

/// The node as its BMC sees it, over IPMI DCMI with `ipmitool` or FreeIPMI's `ipmi-dcmi`, whichever
/// is on PATH: `ipmi:node`, once per second. Needs access to /dev/ipmi0.
/// @throws bench::Error if there is no such program or no such reading
std::unique_ptr<PowerSource> open_ipmi();

}  // namespace bench::energy
