#pragma once

#include <optional>
#include <string>

namespace bench::energy {

/// A number with its unit, `100W` or `50ms`; W and kW, or us, ms, s and min. The unit is required.
/// @throws bench::Error if it is none
double parse_power_w(const std::string& text);
double parse_interval_s(const std::string& text);

/// As `parse_interval_s`; nothing if it is none.
std::optional<double> interval_s_of(const std::string& text);

}  // namespace bench::energy
