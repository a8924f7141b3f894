#pragma once

#include "variables.hpp"

#include <string>
#include <unordered_map>
#include <vector>

#include <bench/engine/run.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/expand/expand.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::engine {

/// All workpackages of a run, and the only place where new ones come from. Ids count up from 0
/// without gaps, so a workpackage's id is its index.
///
/// A workpackage comes into being when all its parents are done, because its parameters may be
/// evaluated from what they left. Parents are taken in the order in which they are released, so
/// equal orders give equal ids.
class Graph {
 public:
  /// @param known what the workspace holds, ascending by id
  Graph(const Run& run, std::vector<workspace::Workpackage> known, evaluate::Evaluator& evaluator);

  const std::vector<workspace::Workpackage>& all() const { return all_; }
  workspace::Workpackage& at(long long id) { return all_[static_cast<std::size_t>(id)]; }
  const workspace::Workpackage& at(long long id) const {
    return all_[static_cast<std::size_t>(id)];
  }

  /// Makes the workpackages of the steps that depend on nothing.
  std::vector<workspace::Workpackage> make_first();
  /// Makes the children that come into being because these, in this order, are done.
  std::vector<workspace::Workpackage> make_children(const std::vector<long long>& released);

  /// The variables of a workpackage in a cycle, for its commands.
  Variables variables_of(const workspace::Workpackage& workpackage, int cycle = 0) const;
  /// Its parameters in a cycle.
  workspace::Parameters parameters_in_cycle(const workspace::Workpackage& workpackage,
                                            int cycle) const;

  /// What the user should know of what was made: dropped combinations and conflicts. Emptied.
  std::vector<std::string> take_notices();

 private:
  /// Compatible parents of a child-to-be.
  struct Parents {
    std::vector<long long> ids;
    expand::Origin origin;
  };
  /// A workpackage on its way into the graph.
  struct Newborn {
    workspace::Workpackage workpackage;
    expand::Combination combination;
    std::size_t cause = 0;  ///< Index of the released workpackage that completed its parents.
  };

  void collect(const model::Step& step, long long released, std::vector<Parents>& parents) const;
  expand::Origin origin_of(long long id) const;
  bool merge(expand::Origin& origin, const expand::Origin& other) const;
  /// Expands `step` on top of each element of `parents`; `causes` runs beside `parents`.
  void breed(const model::Step& step, const std::vector<Parents>& parents,
             const std::vector<std::size_t>& causes, std::vector<Newborn>& newborns);
  int base_iteration(const std::vector<long long>& parents) const;
  std::vector<workspace::Workpackage> take_in(std::vector<Newborn> newborns);
  void resolve_late(std::vector<Newborn>& newborns);
  void remember_combination(workspace::Workpackage& workpackage);
  void note(const model::Step& step, const expand::Expansion& expansion);

  const Run& run_;
  evaluate::Evaluator& evaluator_;
  Variables benchmark_variables_;
  std::vector<workspace::Workpackage> all_;
  /// Done workpackages whose children have been made, by step.
  std::unordered_map<std::string, std::vector<long long>> released_;
  /// First workpackage of each combination: step and parameter values to id.
  std::unordered_map<std::string, long long> combinations_;
  std::vector<std::string> notices_;
};

}  // namespace bench::engine
