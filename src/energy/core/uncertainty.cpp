#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/core.h>

#include <bench/energy/core/uncertainty.hpp>

namespace bench::energy {

double Uncertainty::half_width_j(double duration_s, double stretches) const {
  return ends_j * std::sqrt(stretches) + window_j * stretches + missing_j +
         samples_j_per_root_s * std::sqrt(duration_s);
}

// With r the root of the time: most * P * r^2 - root * r - (ends + window + missing) = 0.
double Uncertainty::shortest_run_s(double power_mean_w) const {
  const double allowed_w = most_uncertainty * power_mean_w;
  const double root_s =
      (samples_j_per_root_s + std::sqrt(samples_j_per_root_s * samples_j_per_root_s +
                                        4 * allowed_w * (ends_j + window_j + missing_j))) /
      (2 * allowed_w);
  return root_s * root_s;
}

Uncertainty& Uncertainty::operator+=(const Uncertainty& other) {
  ends_j += other.ends_j;
  window_j += other.window_j;
  missing_j += other.missing_j;
  samples_j_per_root_s += other.samples_j_per_root_s;
  return *this;
}

Uncertainty uncertainty_of(const Timing& timing, double power_max_w, double power_range_w) {
  const bool by_counter = timing.sample_s == 0;
  const double window_s = by_counter ? 0 : timing.averaging_window_s;
  return {.ends_j = power_max_w * std::max(timing.period_s, timing.interval_s / 2),
          .window_j = power_max_w * window_s / 4,
          .missing_j = (by_counter ? power_max_w : power_range_w) * timing.missing_s,
          .samples_j_per_root_s = power_range_w * std::sqrt(timing.sample_s)};
}

std::string at_least(double shortest_run_s) {
  const double digit = std::pow(10, std::floor(std::log10(shortest_run_s)) - 1);
  constexpr double rounding = 0.05;  // of the last digit, which clocks shake
  return fmt::format("at least {:g} s", std::ceil(shortest_run_s / digit - rounding) * digit);
}

}  // namespace bench::energy
