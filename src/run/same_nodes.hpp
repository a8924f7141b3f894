#pragma once

#include "state_store.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

/// Keeps the workpackages of steps with `same_nodes` on one set of nodes for each number of nodes,
/// partition and constraint. The first of them gets what the batch system chooses. The others wait
/// until its job has begun, and then ask for the same.
class SameNodes {
 public:
  /// Reads from the sentinels on which nodes earlier ones began.
  SameNodes(const space::Run& run, StateStore& store, evaluate::Evaluator& evaluator);
  SameNodes(const SameNodes&) = delete;

  /// Updates which workpackages are held back.
  /// @returns whether any was let go
  bool decide();

  /// The nodes that the job of a workpackage has to get; empty: any.
  std::string nodes_for(const workspace::Workpackage& workpackage);

  /// Messages for the user about those that are still held back, or got any nodes.
  std::vector<std::string> notices() const;

 private:
  struct NodeSet {
    std::string nodes;               ///< Empty: not known yet.
    std::optional<long long> first;  ///< The one that gets what the batch system chooses.
    std::set<long long> waiting;     ///< For its nodes.
    bool any = false;                ///< It has run, and its nodes are not known.
  };

  NodeSet& set_of(const workspace::Workpackage& workpackage);
  bool follow_first(NodeSet& set, const std::set<long long>& ready);

  const space::Run& run_;
  StateStore& store_;
  evaluate::Evaluator& evaluator_;
  bool needed_ = false;
  std::map<std::pair<std::string, std::string>, NodeSet> sets_;  ///< By step and key.
  std::unordered_map<long long, NodeSet*> set_of_;               ///< By workpackage.
};

}  // namespace bench::run
