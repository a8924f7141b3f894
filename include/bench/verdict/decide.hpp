#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <bench/verdict/comparison.hpp>

namespace bench::verdict {

enum class Word { higher, lower, equal, no_evidence, too_few_runs };

/// What stands against a change that is certain on its own.
enum class Objection {
  none,
  drift,             ///< The machine may have drifted (`Comparison::may_be_drift`).
  many_comparisons,  ///< Among so many comparisons a chance makes one like it.
};

/// Nobody plans more.
constexpr std::size_t most_runs = 10'000;

struct Verdict {
  Word word = Word::no_evidence;
  Objection objection = Objection::none;
  /// Of too few runs: how many on each side would do, if effect and spread stay as they are; 0:
  /// unknown. Above `most_runs`: more than that.
  std::size_t runs_needed = 0;

  bool operator==(const Verdict&) const = default;
};

/// Judges all comparisons of one table.
///
/// - higher, lower: the change is at least the margin, and certain: its interval excludes none.
///   Certain among all comparisons of the table: Holm, Scand. J. Statist. 6 (1979) 65.
/// - equal: the interval lies within the margin.
/// - too few runs: neither, and more runs would tell.
/// - no evidence: neither, although the interval is no wider than the margin: the change is about
///   as large as the margin. Or something stands against it.
///
/// @param margin the smallest change that matters, 0.01 is 1 %
std::vector<Verdict> decide(std::span<const Comparison> comparisons, double margin);

}  // namespace bench::verdict
