#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/expand.hpp>
#include <bench/space/join.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/point_index.hpp>
#include <bench/space/run.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

/// Warns of parameters whose value is computed and not what it seems: of type int with a fraction,
/// or with bytes that are not UTF-8. Values that are written in the file are checked as it is read.
class ComputedValues {
 public:
  using IsInherited = std::function<bool(const Assignment&)>;

  /// @param is_inherited whether a parent has the same value, which was warned of with that
  void check(const Combination& combination, const IsInherited& is_inherited);
  /// A warning for each parameter, once.
  std::vector<Warning> take_warnings() { return std::exchange(warnings_, {}); }

 private:
  void warn(const Assignment& assignment, const IsInherited& is_inherited, std::string message,
            std::string hint);

  std::set<const model::Parameter*> told_;
  std::vector<Warning> warnings_;
};

/// What of a step's combinations did not become workpackages.
struct LeftOut {
  std::size_t kept = 0;
  std::size_t by_where = 0;
  std::size_t by_active = 0;
  std::size_t decided = 0;          ///< Workpackages for which `active` was told one by one.
  std::size_t decided_against = 0;  ///< Those of them that were dropped.
  std::size_t conflicts = 0;
  std::string conflicting_parameter;  ///< Of the first conflict.

  void add(const Expansion& expansion);
  void add(const LeftOut& other);

  /// What the user should know of it.
  std::vector<std::string> notices(const std::string& step) const;
};

/// All workpackages of a run, and the only place where new ones come from. Ids count up from 0; a
/// new one gets the largest plus one.
///
/// A workpackage comes into being when all its parents are done, because its parameters may be
/// evaluated from what they left; that of a chained step when its parents have been submitted.
/// Parents are taken in the order in which they are released, so equal orders give equal ids.
class Graph {
 public:
  /// @param known what the workspace holds, ascending by id
  Graph(const Run& run, std::vector<workspace::Workpackage> known, evaluate::Evaluator& evaluator);

  const std::vector<workspace::Workpackage>& all() const { return workpackages_->all(); }
  workspace::Workpackage& at(long long id) { return workpackages_->at(id); }
  const workspace::Workpackage& at(long long id) const {
    return std::as_const(*workpackages_).at(id);
  }

  /// Makes the workpackages of the steps that depend on nothing.
  /// @throws Error as `expand` does, for an invalid suffix, and for more workpackages
  ///         than the run may have
  std::vector<workspace::Workpackage> make_first();
  /// A step and the parents that it is to have children of.
  struct ParentTuple {
    const model::Step* step = nullptr;
    Parents parents;
  };
  /// The parents of all children that come into being because these, in this order, are done. Each
  /// occurs once.
  std::vector<ParentTuple> parent_tuples_of(const std::vector<long long>& released);
  /// The same for chained steps alone, because these have been submitted.
  std::vector<ParentTuple> parent_tuples_ahead_of(const std::vector<long long>& released);
  /// Makes their children; none where it throws.
  /// @param invalid kept: a combination with an invalid value becomes a failed workpackage
  /// @throws Error as `make_first` does
  std::vector<workspace::Workpackage> make_children(std::span<const ParentTuple> parent_tuples,
                                                    Invalid invalid = Invalid::refused);
  /// Makes the one that stands for all children of parents for which there can be none:
  /// failed, with what its parents hand on.
  workspace::Workpackage make_failed_child(const ParentTuple& parent_tuple,
                                           const std::string& reason);

  /// What an input that has gained values, iterations or steps means for its run.
  struct Missing {
    std::vector<workspace::Workpackage> made;
    std::size_t obsolete = 0;  ///< Known workpackages that the benchmark does not have any more.
    /// Parameters to which a script would give another value today.
    std::set<std::string> kept;
  };
  /// Makes what the benchmark has and the run lacks: of the first steps, and children of parents
  /// that have had theirs. A workpackage is known by its step, its parents and its parameters,
  /// except those that name it; of several equal ones each counts. Where a script gave one value
  /// and gives one now, another one makes no other workpackage, unless its definition has changed.
  /// Parents whose children could not be made get none.
  /// @param before the benchmark with which the run was made
  /// @throws Error as `make_first` does
  Missing make_missing(const model::Benchmark& before);

  /// Makes further iterations of a workpackage's combination, with its parents.
  /// @param begin the number of the first one; there are that many
  /// @param end one more than that of the last one
  /// @throws Error as `make_first` does
  std::vector<workspace::Workpackage> make_iterations(long long of, int begin, int end);

  /// Makes the combination of a workpackage with other values of parameters of its step, and what
  /// follows from them.
  /// @returns nothing if `where` or `active` drops it
  /// @throws Error as `make_first` does, and where several combinations have these values
  std::vector<workspace::Workpackage> make_variant(long long of, const FixedValues& values);
  /// The parameters of a workpackage that neither are among these names, nor depend on them or on
  /// what only the workpackage itself has.
  FixedValues independent_values(const workspace::Workpackage& workpackage,
                                 std::set<std::string> names) const;

  /// Whether the last error was that of a run with too many workpackages.
  bool is_full() const { return full_; }

  /// The variables of a workpackage, for its commands.
  Variables variables_of(const workspace::Workpackage& workpackage, int cycle = 0) const;
  /// Those for what it executes for all workpackages of its step: none of its own.
  Variables shared_variables_of(const workspace::Workpackage& workpackage) const;

  /// The parameters that a workpackage has in a cycle, where their `update_mode` gives them new
  /// values; else those that it has. Cycle 0 gives what it was made with, evaluated again.
  /// @throws Error for a script that fails or a value that does not fit its type
  workspace::Parameters parameters_in_cycle(const workspace::Workpackage& workpackage,
                                            int cycle) const;

  /// What the user should know of all that was made since the last call: dropped combinations, one
  /// sum per step, and conflicts.
  std::vector<std::string> take_notices();
  /// The same of values that are likely to be mistakes.
  std::vector<Warning> take_warnings() { return computed_values_.take_warnings(); }

 private:
  /// A workpackage on its way into the graph.
  struct Candidate {
    workspace::Workpackage workpackage;
    Combination combination;
    std::size_t parent_tuple = 0;  ///< Index of its parents among those whose children are made.
  };

  struct ExpansionBatch {
    std::vector<Candidate> candidates;
    bool has_known = false;  ///< Some may be known, and are dropped before the limit is checked.
    Invalid invalid = Invalid::refused;
    std::vector<LeftOut> left_out;  ///< By index of the step; empty: nothing.
    long long combination = 0;      ///< Of the last candidates: less than 0, one for each.
  };

  /// What an expansion makes, where that is not all that the benchmark says.
  struct Growth {
    FixedValues fixed;
    int begin = 0;           ///< The first iteration.
    std::optional<int> end;  ///< Behind the last one; none: as many as the step has at first.
  };

  bool has_children_in(const workspace::Workpackage& parent, const model::Step& step) const;
  void release(long long id, const model::Step& step, std::vector<ParentTuple>& tuples);
  ParentTuple tuple_of(const workspace::Workpackage& workpackage) const;
  /// Expands `step` on top of those of its parent_tuples.
  void expand_step(const model::Step& step, std::span<const ParentTuple> parent_tuples,
                   ExpansionBatch& batch, const Growth& growth);
  void expand_step(const model::Step& step, std::span<const ParentTuple> parent_tuples,
                   ExpansionBatch& batch) {
    expand_step(step, parent_tuples, batch, Growth{});
  }
  void refuse_empty(const ExpansionBatch& batch) const;
  std::vector<ParentTuple> tuples_of_expanded();
  std::size_t drop_known(ExpansionBatch& batch, const std::set<std::string>& scripts,
                         std::set<std::string>& kept) const;
  void check_limit(const model::Step& step, std::size_t coming);
  int base_iteration(const std::vector<long long>& parents) const;
  std::vector<workspace::Workpackage> take_in(ExpansionBatch batch);
  void complete(ExpansionBatch& batch);
  bool is_active(const workspace::Workpackage& workpackage) const;
  void resolve_late(std::span<Candidate> candidates, Invalid invalid);
  void renew_inherited(Candidate& candidate) const;
  void give_directory(workspace::Workpackage& workpackage, bool complete) const;
  void require_work_directory(const workspace::Workpackage& workpackage) const;
  Combination combination_of(const workspace::Workpackage& workpackage) const;

  const Run& run_;
  evaluate::Evaluator& evaluator_;
  Variables benchmark_variables_;
  // Where they are does not change when a graph is moved: they refer to each other.
  std::unique_ptr<Workpackages> workpackages_;
  std::unique_ptr<Definitions> definitions_;
  std::unique_ptr<PointIndex> points_;
  std::map<std::string, Join> joins_;  ///< By step that depends on others.
  std::set<std::string> chained_;      ///< Names of steps.
  /// Parents whose children of chained steps were asked for before they had ended.
  std::unordered_set<long long> released_ahead_;
  bool full_ = false;
  std::vector<LeftOut> left_out_;  ///< By index of the step; empty: nothing.
  ComputedValues computed_values_;
};

}  // namespace bench::space
