#pragma once

#include <chrono>
#include <string>

#include <bench/base/error.hpp>
#include <bench/energy/sources/thermal.hpp>

namespace bench::energy {

/// The lengths of time that an option takes.
struct Range {
  double least_s;
  double most_s;
  const char* words;
};

/// Some counters wrap after minutes, so they must be read now and then.
inline constexpr Range intervals{0.001, 10, "1ms to 10s"};
inline constexpr Range baselines{0.1, 3600, "100ms to 60min"};
inline constexpr Range times_to_get_ready{0, 3600, "0s to 60min"};

/// @param text as the user wrote the time
/// @throws bench::Error if the time is out of range
std::chrono::nanoseconds in_range(const char* name, const std::string& text, double time_s,
                                  const Range& range, const Place& place = {});

/// @throws bench::Error unless it is a number above zero with its unit
double gpu_power_limit_w(const std::string& text, const Place& place = {});
double gpu_clock_mhz(const std::string& text, const Place& place = {});

/// @throws bench::Error unless it is `stable`, a temperature or a time
ThermalCondition thermal_condition(const std::string& text, const Place& place = {});

/// Whether the meter would take this as its option of that name, for those who hand it on.
/// @throws bench::Error with its place if it would not
void check_interval(const std::string& text, const Place& place);
void check_baseline(const std::string& text, const Place& place);
void check_thermal(const std::string& text, const Place& place);
void check_gpu_power_limit(const std::string& text, const Place& place);
void check_gpu_clock(const std::string& text, const Place& place);
void check_cpu_governor(const std::string& text, const Place& place = {});

}  // namespace bench::energy
