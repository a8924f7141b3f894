#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <boost/math/distributions/students_t.hpp>
#include <fmt/core.h>

#include <bench/numbers/comparison.hpp>
#include <bench/numbers/reals.hpp>

namespace bench::numbers {
namespace {

using Times = std::vector<double>;
using Reals = std::vector<double>;

/// The mean of b minus that of a, with its uncertainty.
struct Difference {
  double shift = 0;
  double half_width = 0;   ///< Half width of the interval at `verdict_confidence`; infinite if the
                           ///< spread is unknown.
  double chance = 1;       ///< Two-sided.
  double deviation = 0;    ///< Of a value: the root of the mean variance of both sides.
  std::size_t fewest = 0;  ///< Values of the smaller side.

  bool is_certain() const;
};

using Student = boost::math::students_t;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// 1 / (n over k).
double one_in_choices(std::size_t n, std::size_t k) {
  const auto log_factorial = [](std::size_t of) {
    return std::lgamma(static_cast<double>(of) + 1);
  };
  return std::exp(log_factorial(k) + log_factorial(n - k) - log_factorial(n));
}

bool Difference::is_certain() const {
  return std::fabs(shift) > half_width;
}

/// The probability of Student's distribution beyond `-t` and `t`.
double student_tails(double degrees_of_freedom, double t) {
  return 2 * cdf(complement(Student(degrees_of_freedom), std::fabs(t)));
}

/// Welch's test. If one side is a single value, the spread of the other is used for both. If
/// neither side has any spread, the p-value is that of a permutation test: 2 / C(na + nb, na).
/// @param a, b at least one value each
Difference difference_of(std::span<const double> a, std::span<const double> b) {
  const Moments of_a = moments_of(a);
  const Moments of_b = moments_of(b);
  Difference made{.shift = of_b.mean - of_a.mean,
                  .half_width = infinity,
                  .fewest = std::min(a.size(), b.size())};
  if (a.size() + b.size() < 3)
    return made;
  const auto n_a = static_cast<double>(a.size());
  const auto n_b = static_cast<double>(b.size());
  const bool is_one_alone = a.size() == 1 || b.size() == 1;
  const double known = of_a.variance + of_b.variance;  // the variance of a single value is 0
  const double error_a = (is_one_alone ? known : of_a.variance) / n_a;
  const double error_b = (is_one_alone ? known : of_b.variance) / n_b;
  made.deviation = std::sqrt(is_one_alone ? known : known / 2);
  const double error = error_a + error_b;
  if (error == 0) {
    const double sorted = std::min(1.0, 2 * one_in_choices(a.size() + b.size(), a.size()));
    made.chance = made.shift == 0 ? 1 : sorted;
    made.half_width = sorted <= 1 - verdict_confidence ? 0 : infinity;
    return made;
  }
  if (!std::isfinite(error))
    return made;
  // By shares of the error: the square of a tiny error would be 0.
  const double share_a = error_a / error;
  const double share_b = error_b / error;
  const double freedom = is_one_alone
                             ? std::max(n_a, n_b) - 1
                             : 1 / (share_a * share_a / (n_a - 1) + share_b * share_b / (n_b - 1));
  made.half_width = student_quantile(freedom, verdict_confidence) * std::sqrt(error);
  made.chance = student_tails(freedom, made.shift / std::sqrt(error));
  return made;
}

/// The outliers of two samples: values farther from the median of their sample than 3.5 robust
/// standard deviations (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993). The
/// deviation is 1.4826 times the median distance of all values from the medians of their samples,
/// which is that of normal noise, corrected for two degrees of freedom. A sample whose own
/// deviation is more than 2.5 times that is measured by its own: beside a sample with little noise,
/// most values of a noisy one would seem to be outliers.
///
/// A value within 2.5 deviations of the other sample's median is not an outlier: with bimodal
/// noise, the samples may have the modes in different shares. A sample with fewer than five values
/// has no outliers.
struct Outliers {
  std::vector<bool> in_a;
  std::vector<bool> in_b;
  std::size_t count = 0;
};

Reals distances(std::span<const double> sample, double from) {
  Reals distances;
  for (const double value : sample)
    distances.push_back(std::fabs(value - from));
  return distances;
}

/// @param medians from which the distances are, and which cost a degree of freedom each
double deviation(Reals distances, int medians) {
  constexpr double of_normal_noise = 1.4826;
  const auto n = static_cast<double>(distances.size());
  return of_normal_noise * median(std::move(distances)) * std::sqrt(n / (n - medians));
}

/// The sample's own deviation if it is clearly larger than the common one, else that one. Its own
/// is uncertain: it comes from few values, some of which may be outliers.
double deviation_of(const Reals& distances, double common) {
  constexpr double clearly_wider = 2.5;
  const double own = deviation(distances, 1);
  return own > clearly_wider * common ? own : common;
}

/// Values far from the median of their own sample and not near that of the other.
std::vector<bool> far_values(std::span<const double> sample, double own, double other,
                             double deviation) {
  constexpr double far_deviations = 3.5;
  constexpr double near_deviations = 2.5;
  std::vector<bool> marks;
  for (const double value : sample)
    marks.push_back(std::fabs(value - own) > far_deviations * deviation &&
                    std::fabs(value - other) > near_deviations * deviation);
  return marks;
}

/// @param a, b at least one value each
Outliers outliers_of(std::span<const double> a, std::span<const double> b) {
  constexpr std::size_t fewest = 5;
  Outliers made{std::vector<bool>(a.size()), std::vector<bool>(b.size())};
  if (a.size() < fewest || b.size() < fewest)
    return made;
  const double middle_a = median({a.begin(), a.end()});
  const double middle_b = median({b.begin(), b.end()});
  const Reals from_a = distances(a, middle_a);
  const Reals from_b = distances(b, middle_b);
  Reals all = from_a;
  std::ranges::copy(from_b, std::back_inserter(all));
  const double common = deviation(std::move(all), 2);
  if (common == 0)
    return made;
  made.in_a = far_values(a, middle_a, middle_b, deviation_of(from_a, common));
  made.in_b = far_values(b, middle_b, middle_a, deviation_of(from_b, common));
  made.count = static_cast<std::size_t>(std::ranges::count(made.in_a, true) +
                                        std::ranges::count(made.in_b, true));
  return made;
}

Reals values_of(std::span<const Measurement> sample) {
  Reals values;
  for (const Measurement& one : sample)
    values.push_back(one.value);
  return values;
}

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
    const double middle_time = moments_of(at).mean;
    const double middle_value = moments_of(values_of(sample)).mean;
    for (std::size_t k = 0; k < sample.size(); ++k) {
      const double time = at[k] - middle_time;
      const double value = sample[k].value - middle_value;
      times += time * time;
      values += value * value;
      both += time * value;
    }
  }
};

/// Whether all values of one sample were measured before those of the other. False if a start time
/// is unknown.
bool are_one_after_other(const Sample& a, const Sample& b) {
  return gap_between(span_of(starts_of(a)), span_of(starts_of(b))) > 0;
}

/// Whether a significant difference may come from a drift of the machine: one sample was measured
/// right after the other, both drift in the direction of the difference (slope significant at 5 %),
/// and without this slope (analysis of covariance) the difference is not significant, or has the
/// opposite sign.
///
/// Samples that overlap in time saw the same drift. If the gap between two samples is longer than
/// either of them, a drift cannot be extrapolated across it.
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
  const double later = moments_of(times_b).mean - moments_of(times_a).mean;
  const double drifted = slope * later;
  const bool goes_along = drifted * difference.shift > 0;
  const double slope_error = std::sqrt(rest / products.times);
  if (!goes_along || std::fabs(slope) <= student_quantile(freedom, trend_confidence) * slope_error)
    return false;
  const double without = difference.shift - drifted;
  const double error =
      std::sqrt(rest * (1 / static_cast<double>(a.size()) + 1 / static_cast<double>(b.size()) +
                        later * later / products.times));
  return without * difference.shift <= 0 ||
         std::fabs(without) <= student_quantile(freedom, verdict_confidence) * error;
}

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

void leave_out(const std::vector<bool>& marks, Sample& sample) {
  Sample kept;
  for (std::size_t k = 0; k < sample.size(); ++k)
    if (!marks[k])
      kept.push_back(sample[k]);
  sample.swap(kept);
}

/// The mean of each run, in order of their numbers.
Reals run_means(const Sample& sample) {
  std::map<std::size_t, Reals> runs;
  for (const Measurement& one : sample)
    runs[one.run].push_back(one.value);
  Reals means;
  for (const auto& [run, values] : runs)
    means.push_back(moments_of(values).mean);
  return means;
}

/// The less certain of two comparisons: of all values, or of the means of the runs.
Difference cautious_difference(const Sample& a, const Sample& b) {
  const Difference of_values = difference_of(values_of(a), values_of(b));
  const Reals runs_a = run_means(a);
  const Reals runs_b = run_means(b);
  if (runs_a.size() + runs_b.size() == 2)
    return of_values;
  const Difference of_runs = difference_of(runs_a, runs_b);
  return of_runs.half_width > of_values.half_width ? of_runs : of_values;
}

double superiority_of(const Reals& a, const Reals& b) {
  Reals ordered = a;
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

bool is_testable(const Comparison& one) {
  return one.absent_reason.empty() && std::isfinite(one.interval.high);
}

/// Whether each change is significant after Holm's correction.
std::vector<bool> certain_ones(std::span<const Comparison> comparisons) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < comparisons.size(); ++k)
    if (is_testable(comparisons[k]))
      order.push_back(k);
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return comparisons[k].chance; });
  std::vector<bool> certain(comparisons.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto left = static_cast<double>(order.size() - rank);
    if (comparisons[order[rank]].chance * left > 1 - verdict_confidence)
      break;
    certain[order[rank]] = true;
  }
  return certain;
}

/// The number of values on each side at which the half width is at most this.
std::size_t runs_for(double half_width, double spread) {
  constexpr std::size_t fewest_without_spread = 6;  // one in 924 / 2
  if (spread == 0)
    return fewest_without_spread;
  const auto is_too_wide = [&](std::size_t n) {
    const auto runs = static_cast<double>(n);
    return student_quantile(2 * runs - 2, verdict_confidence) * spread * std::sqrt(2 / runs) >
           half_width;
  };
  if (is_too_wide(most_runs))
    return most_runs + 1;
  std::size_t below = 1;
  std::size_t above = most_runs;
  while (below + 1 < above) {
    const std::size_t middle = below + (above - below) / 2;
    (is_too_wide(middle) ? below : above) = middle;
  }
  return above;
}

/// Verdict on a change that is neither certain nor certainly within the margin.
Verdict undecided(const Comparison& one, double margin) {
  const bool is_spread_unknown = one.values_a + one.values_b < 3;
  if (is_spread_unknown)
    return {.word = Word::too_few_runs};
  const double size = std::fabs(one.change);
  // A change close to the margin need not be distinguished from it.
  const double needed = size >= margin ? size : std::max(margin - size, margin / 2);
  const bool is_narrow = one.interval.high - one.interval.low <= margin;
  if (is_narrow && size < margin)
    return {.word = Word::no_evidence};
  return {.word = Word::too_few_runs,
          .runs_needed = std::max(runs_for(needed, one.spread), one.fewest + 1)};
}

Verdict verdict_of(const Comparison& one, double margin, bool is_certain_among_all) {
  if (one.values_a == 0 || one.values_b == 0)
    return {.word = Word::too_few_runs};
  if (one.not_finite_a + one.not_finite_b > 0)
    return {.word = Word::not_finite};
  if (!one.absent_reason.empty())
    return {.word = Word::no_evidence};
  const auto [low, high] = one.interval;
  const double shown = one.shown_change.value_or(one.change);
  if (-margin < low && high < margin)
    return std::fabs(shown) < margin
               ? Verdict{.word = Word::equal}
               : Verdict{.word = Word::no_evidence, .objection = Objection::shown_values};
  const bool is_certain = low > 0 || high < 0;
  if (!is_certain || std::fabs(one.change) < margin)
    return undecided(one, margin);
  if (one.may_be_drift)
    return {.word = Word::no_evidence, .objection = Objection::drift};
  if (!is_certain_among_all)
    return {.word = Word::no_evidence, .objection = Objection::many_comparisons};
  if ((one.change > 0 ? shown : -shown) < margin)
    return {.word = Word::no_evidence, .objection = Objection::shown_values};
  return {.word = one.change > 0 ? Word::higher : Word::lower};
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
    const double mean = moments_of(values_of(sample)).mean;
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

std::vector<Verdict> decide(std::span<const Comparison> comparisons, double margin) {
  const std::vector<bool> certain = certain_ones(comparisons);
  std::vector<Verdict> verdicts;
  for (std::size_t k = 0; k < comparisons.size(); ++k)
    verdicts.push_back(verdict_of(comparisons[k], margin, certain[k]));
  return verdicts;
}

}  // namespace bench::numbers
