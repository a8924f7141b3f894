#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/group.hpp>

namespace bench::results {

/// Analyses groups, some at a time: scans their files, computes statistics, evaluates derived
/// patterns.
///
/// Scanning: Python's `re` dialect over the whole text, multi-line; `\r\n` and `\r` count as `\n`;
/// invalid UTF-8 counts as the character U+FFFD. `$jube_pat_int` and the like, parameters,
/// and other patterns of the same file are substituted first. No group: the whole match counts;
/// several groups: all of them, in order; empty strings are dropped, and so are texts that are no
/// numbers where the pattern has a numeric type; if nothing else matched, the name is absent for
/// that reason.
///
/// Statistics per pattern `p` over all its values: `p`, `p_first`, `p_last`, `p_cnt`, and for
/// numbers (without a type, where somebody looks them up) `p_min p_max p_sum p_sum2 p_avg p_std`
/// (sample deviation with n-1, 0 for one value: sqrt(|sum2 - sum^2/n| / (n-1)), in two passes where
/// that would cancel). All but `_cnt` and
/// `_sum2` have the pattern's unit. A pattern that matched nowhere has its default; without one its
/// name is absent, and says in which files there was no match, and its statistics are not there.
///
/// Derived patterns may use parameters, patterns, their statistics and other derived ones. One that
/// needs an absent value is absent for the same reason; one that needs a pattern without a match,
/// or fails, has its default, else is absent.
///
/// The energy files of a measured workpackage (`energy.txt`, `name=value` lines as bench-energy
/// writes them) are read the same way: each numeric name becomes a finding with the statistics
/// above, its unit read from its suffix (`_wh _w _s _j`), and `energy_source`, `energy_quality`
/// and `energy_recovered` become texts. `energy_quality=estimated` marks all of them but
/// `duration_s`; `energy_absent=REASON` makes those of `energy_wh`, `power_mean_w` and
/// `power_max_w` that have no value, and their statistics, absent with that reason; a listed file
/// that is not there means "the meter wrote nothing". So are `energy_region_<name>_wh`,
/// `energy_devices_region_<name>_wh` and `power_region_<name>_w` of a region whose
/// `duration_region_<name>_s` is there, and in derived patterns those of any region. Where only
/// some of a group's measured workpackages have a name, its statistics are over those, and its sums
/// are absent. A pattern of the same name goes first.
class GroupAnalyser {
 public:
  /// @param diagnostics told, once per pattern, of matches that are not numbers or lose a fraction,
  ///        of names that no parameter or pattern has, and of derived patterns that fail, and once
  ///        per file of invalid UTF-8
  explicit GroupAnalyser(evaluate::Evaluator& evaluator, Diagnostics* diagnostics = nullptr);
  ~GroupAnalyser();

  /// @returns one FoundValues per group, in order
  /// @throws Error with the pattern's place if an expression does not compile or exceeds its match
  ///         limit, or if derived patterns need each other
  std::vector<FoundValues> analyse(const std::vector<Group>& groups);

  /// The values of each pattern that matched several numbers in the files of a group, in the order
  /// of the matches. A pattern without a type counts if all of its values are numbers. Derived
  /// patterns and the files of the meter have one value each, and are not among them.
  /// @throws Error as `analyse` does
  std::map<std::string, std::vector<double>, std::less<>> series(const Group& group);

  /// The patterns that matched nowhere and have no default.
  /// @throws Error as `analyse` does
  std::vector<Miss> misses(const Group& group);

 private:
  class Scanner;
  evaluate::Evaluator& evaluator_;
  Diagnostics* diagnostics_;
  std::unique_ptr<Scanner> scanner_;
  std::set<const model::Pattern*> failed_;  ///< Derived patterns that were told of.
};

/// Compiles the expression of a pattern, unless it holds parameters.
/// @throws Error with the pattern's place if it does not compile
void check_expression(const model::Pattern& pattern);

}  // namespace bench::results
