#include <optional>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/integrate.hpp>
#include <bench/energy/sources/amd_gauge.hpp>

namespace bench::energy {
namespace {

constexpr double joules_per_count = 1.0 / 65536;
constexpr double accumulator_range_j = 65536;
constexpr double impossible_gpu_w = 5000;
constexpr double shortest_slope_s = 10 * amd_counter_period_s;

}  // namespace

bool is_silent(const AmdValues& values) {
  return values.power_w.value_or(0) <= 0 && values.energy_count.value_or(0) == 0;
}

double counter_range_j(const AmdValues& values) {
  const double count_j = static_cast<double>(values.energy_count.value_or(0)) * joules_per_count;
  return count_j > 0 && count_j < accumulator_range_j ? accumulator_range_j : 0;
}

Reading AmdGauge::reading(const AmdValues& values, double host_time_s) {
  Reading reading;
  const double time_s = values.time_s.value_or(host_time_s);
  if (values.power_w.value_or(0) > 0 && *values.power_w < impossible_gpu_w) {
    reading.power_w = values.power_w;
    has_power_ = true;
  }
  if (values.energy_count.value_or(0) > 0) {
    const double count_j = static_cast<double>(*values.energy_count) * joules_per_count;
    reading.energy_j = energy_j(count_j, time_s);
    if (!has_power_)
      reading.power_w = slope_w(*reading.energy_j, time_s);
  }
  if (!reading.power_w && !reading.energy_j)
    reading.failure = "shows neither power nor energy";
  return reading;
}

double AmdGauge::energy_j(double count_j, double time_s) {
  if (last_ && count_j < last_->energy_j && last_->energy_j < accumulator_range_j &&
      unwrapped_difference(last_->energy_j, count_j, accumulator_range_j) <=
          impossible_gpu_w * (time_s - last_->time_s))
    wrapped_j_ += accumulator_range_j;
  last_ = Point{count_j, time_s};
  return wrapped_j_ + count_j;
}

std::optional<double> AmdGauge::slope_w(double energy_j, double time_s) {
  std::optional<double> slope;
  if (slope_from_ && time_s - slope_from_->time_s < shortest_slope_s)
    return slope;
  if (slope_from_ && energy_j > slope_from_->energy_j)
    slope = (energy_j - slope_from_->energy_j) / (time_s - slope_from_->time_s);
  slope_from_ = Point{energy_j, time_s};
  return slope;
}

}  // namespace bench::energy
