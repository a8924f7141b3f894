
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <bench/numbers/comparison.hpp>
#include <bench/numbers/decide.hpp>
#include <bench/numbers/reals.hpp>

namespace bench::numbers {
namespace {

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

std::vector<Verdict> decide(std::span<const Comparison> comparisons, double margin) {
  const std::vector<bool> certain = certain_ones(comparisons);
  std::vector<Verdict> verdicts;
  for (std::size_t k = 0; k < comparisons.size(); ++k)
    verdicts.push_back(verdict_of(comparisons[k], margin, certain[k]));
  return verdicts;
}

}  // namespace bench::numbers
