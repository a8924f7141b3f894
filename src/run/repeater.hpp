#pragma once

#include "state_store.hpp"

#include <cstddef>
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
#include <bench/space/combination.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

/// Whether everything that can run on this machine has ended. Deciding then makes ids independent
/// of parallelism.
bool is_round_over(const space::Run& run, const StateStore& store);

/// The iterations of one combination so far, all ended.
struct Repeated {
  int iterations = 0;
  int next = 0;  ///< Number of the next one; `active` may have dropped earlier ones.
  std::span<const double> values;  ///< Values of the iterations that are done.
  int failed = 0;
  int affordable = 0;      ///< How many more the budget of the step allows.
  bool dominated = false;  ///< Another combination is better with certainty.
};

/// The decision about a combination.
struct RepetitionDecision {
  int more = 0;  ///< Iterations to add; 0: none.
  bool known = false;
  /// Why it stays uncertain if none are added; empty if dominated.
  std::string reason;
};

/// Decides whether the value of a repetition is known well enough, or how many iterations to add.
/// @param by_estimate adds as many as the interval's width suggests, at most doubling them, instead
/// of one by one: queueing a job for each would take long
RepetitionDecision decide(const model::Repetition& repetition, const Repeated& repeated,
                          bool by_estimate);

/// Adds iterations to the combinations of steps with `until`. Decisions depend only on the
/// workpackages and their files, so that a continued run makes the same decisions. On this machine,
/// a step is repeated in rounds, after everything that can run has ended, so that ids do not depend
/// on timing. With a batch system, each combination is decided independently.
class Repeater {
 public:
  /// Reads past attempts from the workspace, then follows the store.
  Repeater(const space::Run& run, const workspace::Workspace& workspace, StateStore& store,
           evaluate::Evaluator& evaluator);
  Repeater(const Repeater&) = delete;

  /// Adds the next iterations.
  /// @throws Error for an invalid pattern, or for more workpackages than the run may have
  void decide();

  /// Messages for the user about values that stayed uncertain.
  std::vector<std::string> notices() const;

 private:
  /// Iterations of one combination with the same parents.
  struct Series {
    std::vector<long long> ids;  ///< Ascending.
    long long open = 0;          ///< Not ended yet.
    space::FixedValues rivals;   ///< The values that its rivals share.
    std::vector<double> values;  ///< Of the iterations that are done.
    /// Bounds of the confidence interval of their mean; larger is better.
    double low = 0;
    double high = 0;
    std::optional<long long> better;  ///< The first workpackage of a series that dominates it.
    std::string unknown;  ///< Why it stays uncertain; empty if it is known or still running.
  };
  using Key = std::pair<long long, std::vector<long long>>;  ///< Combination and parents.
  struct StepSeries {
    std::map<Key, Series> all;
    std::set<Key> settled;  ///< Ended since the last decision.
    double used_node_hours = 0;
    double used_wh = 0;
    long long ended = 0;  ///< Number of workpackages in these sums.
  };

  void follow(const workspace::Event& event);
  void add(const workspace::Workpackage& workpackage);
  void end(const workspace::Workpackage& workpackage, double duration_s);
  void take_values(const model::Step& step, Series& series);
  static std::optional<long long> better_one(const StepSeries& of_step, const Series& series);
  void decide(const model::Step& step, StepSeries& of_step, Series& series);
  int next_number(const model::Step& step, const Series& series) const;
  std::optional<double> value_of(const workspace::Workpackage& workpackage,
                                 const std::string& name);
  int affordable(const model::Step& step, const StepSeries& series) const;
  int nodes_of(const workspace::Workpackage& workpackage) const;

  const space::Run& run_;
  StateStore& store_;
  evaluate::Evaluator& evaluator_;
  results::WorkpackageValues values_;
  std::map<std::string, StepSeries> series_;  ///< By step that repeats.
  /// Values of done workpackages, by name.
  std::map<std::pair<long long, std::string>, std::optional<double>> known_values_;
};

}  // namespace bench::run
