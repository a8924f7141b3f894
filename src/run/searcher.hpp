#pragma once

#include "state_store.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/workpackage_values.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

/// A value that a search has tried.
struct Probe {
  long long value = 0;
  bool fits = false;  ///< It had enough memory.
};

/// The largest value that fits below the smallest that does not; none if the smallest value does
/// not fit.
std::optional<long long> largest_fit(std::span<const Probe> probes);

/// Whether a value fits although a smaller one does not.
bool is_contradictory(std::span<const Probe> probes);

/// The next value to try; none once the largest one is known.
std::optional<long long> next_value(const model::Search& search, std::span<const Probe> probes);

/// How many values a search tries at most: 1 + log2(to / from) + log2(to / (2 multiple_of)), each
/// logarithm rounded up; 24 from 1 to 4096.
int most_values(const model::Search& search);

/// Adds the values that the searches of steps try. Like `Repeater`, it decides only by the
/// workpackages and their outcomes, on this machine in rounds.
class Searcher {
 public:
  /// Reads past outcomes from the workspace, then follows the store.
  Searcher(const space::Run& run, const workspace::Workspace& workspace, StateStore& store,
           evaluate::Evaluator& evaluator);
  Searcher(const Searcher&) = delete;

  /// Adds the next values.
  /// @throws Error as `space::Graph::make_variant`
  void decide();

  /// Messages for the user with the results of the searches.
  std::vector<std::string> notices() const;

 private:
  /// The search over one combination of the other parameters.
  struct SearchState {
    std::map<long long, std::vector<long long>> tried;  ///< Workpackages by value.
    std::string shared;                                 ///< The other parameters, for messages.
    std::string stop_reason;  ///< Why it ended early; empty if it did not.
    bool ended = false;
  };
  /// Parents, and the other parameters.
  using Key = std::pair<std::vector<long long>, space::FixedValues>;

  void follow(const workspace::Event& event);
  void add(const workspace::Workpackage& workpackage);
  void decide(const model::Step& step, SearchState& state);
  bool has_ended(const SearchState& state) const;
  std::string found(const model::Search& search, const SearchState& state) const;
  std::optional<double> median_of(const std::vector<long long>& ids, const std::string& name) const;

  const space::Run& run_;
  StateStore& store_;
  results::WorkpackageValues values_;
  std::map<std::string, std::map<Key, SearchState>> searches_;  ///< By step that searches.
  std::set<long long> out_of_memory_;
  bool changed_ = true;  ///< Something has ended since the last decision.
};

}  // namespace bench::run
