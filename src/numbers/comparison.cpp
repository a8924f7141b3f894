#include "drift.hpp"
#include "sample_outliers.hpp"
#include "welch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include <fmt/core.h>

#include <bench/numbers/comparison.hpp>

namespace bench::verdict {
namespace {

using Values = std::vector<double>;

bool is_positive(std::span<const Measurement> sample) {
  return std::ranges::all_of(sample, [](const Measurement& one) { return one.value > 0; });
}

Sample on_scale(std::span<const Measurement> sample, bool logarithmic) {
  Sample scaled(sample.begin(), sample.end());
  if (logarithmic)
    for (Measurement& one : scaled)
      one.value = std::log(one.value);
  return scaled;
}

std::size_t not_finite_in(std::span<const Measurement> sample) {
  return static_cast<std::size_t>(std::ranges::count_if(
      sample, [](const Measurement& one) { return !std::isfinite(one.value); }));
}

Values values_of(std::span<const Measurement> sample) {
  Values values;
  for (const Measurement& one : sample)
    values.push_back(one.value);
  return values;
}

void leave_out(const std::vector<bool>& marks, Sample& sample) {
  Sample kept;
  for (std::size_t k = 0; k < sample.size(); ++k)
    if (!marks[k])
      kept.push_back(sample[k]);
  sample.swap(kept);
}

/// The mean of each run, in order of their numbers.
Values run_means(const Sample& sample) {
  std::map<std::size_t, Moments> runs;
  for (const Measurement& one : sample)
    runs[one.run].add(one.value);
  Values means;
  for (const auto& [run, moments] : runs)
    means.push_back(moments.mean());
  return means;
}

/// The less certain of two comparisons: of all values, or of the means of the runs.
Difference cautious_difference(const Sample& a, const Sample& b) {
  const Difference of_values = difference_of(values_of(a), values_of(b));
  const Values runs_a = run_means(a);
  const Values runs_b = run_means(b);
  if (runs_a.size() + runs_b.size() == 2)
    return of_values;
  const Difference of_runs = difference_of(runs_a, runs_b);
  return of_runs.half_width > of_values.half_width ? of_runs : of_values;
}

double superiority_of(const Values& a, const Values& b) {
  Values ordered = a;
  std::ranges::sort(ordered);
  double above = 0;
  for (const double value : b) {
    const auto [first, last] = std::ranges::equal_range(ordered, value);
    above += static_cast<double>(first - ordered.begin()) + static_cast<double>(last - first) / 2;
  }
  return above / static_cast<double>(a.size() * b.size());
}

bool is_all_zero(std::span<const Measurement> sample) {
  return std::ranges::all_of(sample, [](const Measurement& one) { return one.value == 0; });
}

}  // namespace

double relative_change(double a, double b) {
  return a == b ? 0 : (b - a) / std::fabs(a);
}

Comparison compare(std::span<const Measurement> a, std::span<const Measurement> b) {
  Comparison made;
  made.values_a = a.size();
  made.values_b = b.size();
  made.not_finite_a = not_finite_in(a);
  made.not_finite_b = not_finite_in(b);
  if (a.empty() || b.empty()) {
    made.absent_reason = "no value";
    return made;
  }
  if (made.not_finite_a + made.not_finite_b > 0) {
    made.absent_reason = "some values are nan or infinite";
    return made;
  }
  const bool logarithmic = is_positive(a) && is_positive(b);
  Sample of_a = on_scale(a, logarithmic);
  Sample of_b = on_scale(b, logarithmic);
  made.superiority = superiority_of(values_of(of_a), values_of(of_b));
  const Outliers outliers = outliers_of(values_of(of_a), values_of(of_b));
  made.outliers = outliers.count;
  leave_out(outliers.in_a, of_a);
  leave_out(outliers.in_b, of_b);
  made.counted_a = of_a.size();
  made.counted_b = of_b.size();
  const auto middle_of = [&](const Sample& sample) {
    const double mean = moments_of(values_of(sample)).mean();
    return logarithmic ? std::exp(mean) : mean;
  };
  made.a = middle_of(of_a);
  made.b = middle_of(of_b);
  const bool is_zero = is_all_zero(a);
  made.is_from_zero = is_zero && !is_all_zero(b);
  if (made.a == 0 && (!is_zero || (made.is_from_zero && made.b == 0))) {
    made.absent_reason = fmt::format("the middle of {} is 0", is_zero ? "both sides" : "a");
    return made;
  }
  const Difference difference = cautious_difference(of_a, of_b);
  if (!std::isfinite(difference.deviation)) {
    made.absent_reason = "the values are too large for their variance";
    return made;
  }
  const double size = std::fabs(made.a == 0 ? made.b : made.a);
  const double unit = logarithmic || size == 0 ? 1 : size;
  const auto relative = [&](double shift) {
    return logarithmic ? std::expm1(shift) : shift / unit;
  };
  made.change = relative(difference.shift);
  made.interval = {relative(difference.shift - difference.half_width),
                   relative(difference.shift + difference.half_width)};
  made.chance = difference.chance;
  made.fewest = difference.fewest;
  made.spread = difference.deviation / unit;
  made.one_after_other = are_one_after_other(of_a, of_b);
  made.may_be_drift = difference.is_certain() && may_be_drift(of_a, of_b, difference);
  return made;
}

}  // namespace bench::verdict
