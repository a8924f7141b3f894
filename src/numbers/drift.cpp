#include "drift.hpp"

#include "welch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <bench/numbers/comparison.hpp>
#include <bench/numbers/reals.hpp>

namespace bench::verdict {
namespace {

using Times = std::vector<double>;

Times starts_of(const Sample& sample) {
  Times starts;
  for (const Measurement& one : sample)
    starts.push_back(one.start_unix_s);
  return starts;
}

struct Span {
  double first;
  double last;
  double length() const { return last - first; }
};

/// NaN if a time is unknown.
Span span_of(const Times& times) {
  if (std::ranges::any_of(times, [](double time) { return std::isnan(time); }))
    return {std::nan(""), std::nan("")};
  const auto [first, last] = std::ranges::minmax(times);
  return {first, last};
}

/// The time from the end of one to the start of the other; below 0 where they overlap.
double gap_between(const Span& a, const Span& b) {
  return std::max(b.first - a.last, a.first - b.last);
}

/// Sums of products about the means of each sample.
struct Products {
  double times = 0;   ///< Of times with themselves.
  double values = 0;  ///< Of values with themselves.
  double both = 0;

  void add(const Sample& sample, const Times& at) {
    Moments of_values;
    for (const Measurement& one : sample)
      of_values.add(one.value);
    const double middle_time = moments_of(at).mean();
    for (std::size_t k = 0; k < sample.size(); ++k) {
      const double time = at[k] - middle_time;
      const double value = sample[k].value - of_values.mean();
      times += time * time;
      values += value * value;
      both += time * value;
    }
  }
};

}  // namespace

bool are_one_after_other(const Sample& a, const Sample& b) {
  return gap_between(span_of(starts_of(a)), span_of(starts_of(b))) > 0;
}

bool may_be_drift(const Sample& a, const Sample& b, const Difference& difference) {
  constexpr double trend_confidence = 0.95;
  const Times times_a = starts_of(a);
  const Times times_b = starts_of(b);
  const Span of_a = span_of(times_a);
  const Span of_b = span_of(times_b);
  if (a.size() + b.size() < 4 || !are_one_after_other(a, b) ||
      gap_between(of_a, of_b) > std::max(of_a.length(), of_b.length()))
    return false;
  Products products;
  products.add(a, times_a);
  products.add(b, times_b);
  if (products.times == 0)
    return false;
  const double freedom = static_cast<double>(a.size() + b.size() - 3);
  const double slope = products.both / products.times;
  const double rest = std::max(0.0, products.values - slope * products.both) / freedom;
  const double later = moments_of(times_b).mean() - moments_of(times_a).mean();
  const double drifted = slope * later;
  const bool goes_along = drifted * difference.shift > 0;
  const double slope_error = std::sqrt(rest / products.times);
  if (!goes_along ||
      std::fabs(slope) <= statistics::student_quantile(freedom, trend_confidence) * slope_error)
    return false;
  const double without = difference.shift - drifted;
  const double error =
      std::sqrt(rest * (1 / static_cast<double>(a.size()) + 1 / static_cast<double>(b.size()) +
                        later * later / products.times));
  return without * difference.shift <= 0 ||
         std::fabs(without) <= statistics::student_quantile(freedom, confidence) * error;
}

}  // namespace bench::verdict
