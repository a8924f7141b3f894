#pragma once

#include <optional>
#include <string>

namespace bench::energy {

/// A number with its unit, `100W` or `50ms`; W and kW, us, ms, s and min, MHz and GHz. The unit is
/// required.
/// @throws bench::Error if it is none
double parse_power_w(const std::string& text);
double parse_interval_s(const std::string& text);

/// As these; nothing if it is none.
std::optional<double> power_w_of(const std::string& text);
std::optional<double> interval_s_of(const std::string& text);
std::optional<double> frequency_mhz_of(const std::string& text);

}  // namespace bench::energy
