#pragma once

#include "harness/json.hpp"
#include "harness/metrics_file.hpp"
#include "harness/statistics.hpp"

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {

/// One result as the line `name=value` on standard output, and in the file of `--metrics`; the unit
/// is the end of the name.
template <typename Value>
void log_value(std::string_view name, const Value& value) {
  // Nine digits give a float back exactly, so equal losses print equal and only those.
  if constexpr (std::is_floating_point_v<Value>)
    fmt::print("{}={:.9g}\n", name, value);
  else
    fmt::print("{}={}\n", name, value);
  keep_metric(name, json_value(value));
}

/// `<name>_min_<unit>=`, `_mean_`, `_median_`, `_max_` and `_std_`, one line each. Logs nothing if
/// there are no samples: a rank may have had no work.
inline void log_statistics(const std::string& name, std::string_view unit,
                           const std::vector<double>& samples) {
  if (samples.empty())
    return;
  const Statistics s = statistics(samples);
  log_value(fmt::format("{}_min_{}", name, unit), s.min);
  log_value(fmt::format("{}_mean_{}", name, unit), s.mean);
  log_value(fmt::format("{}_median_{}", name, unit), s.median);
  log_value(fmt::format("{}_max_{}", name, unit), s.max);
  log_value(fmt::format("{}_std_{}", name, unit), s.standard_deviation);
}

}  // namespace bench::steps
