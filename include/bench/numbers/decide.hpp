#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <bench/numbers/comparison.hpp>

namespace bench::numbers {

enum class Word { higher, lower, equal, no_evidence, too_few_runs, not_finite };

/// Why a change that is certain on its own is not accepted.
enum class Objection {
  none,
  drift,             ///< The machine may have drifted (`Comparison::may_be_drift`).
  many_comparisons,  ///< With this many comparisons, chance alone can produce such a change.
  shown_values,      ///< The values that are shown differ otherwise than the middles.
};

/// Upper limit of the reported number of runs.
constexpr std::size_t most_runs = 10'000;

struct Verdict {
  Word word = Word::no_evidence;
  Objection objection = Objection::none;
  /// For too few runs: how many are needed on each side if effect and spread stay the same; 0:
  /// unknown. Above `most_runs`: more than that.
  std::size_t runs_needed = 0;

  bool operator==(const Verdict&) const = default;
};

/// Judges all comparisons of one table.
///
/// - higher, lower: the change is at least the margin, and certain: its interval excludes none.
///   Certain among all comparisons of the table: Holm, Scand. J. Statist. 6 (1979) 65.
/// - equal: the interval lies within the margin.
/// - too few runs: neither, and more runs would decide.
/// - not finite: some values are nan or infinite, so that there is nothing to compare.
/// - no evidence: neither, although the interval is no wider than the margin: the change is about
///   as large as the margin. Or there is an `Objection`.
///
/// @param margin the smallest change that matters, 0.01 is 1 %
std::vector<Verdict> decide(std::span<const Comparison> comparisons, double margin);

}  // namespace bench::numbers
