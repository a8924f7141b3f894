#pragma once

#include "state_store.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

/// Whether the workpackage was skipped because of an out-of-memory result. It is reconsidered when
/// that result is removed.
bool is_implied(const workspace::Workpackage& workpackage);

/// Skips the workpackages of steps with `prune` that an out-of-memory result implies, and holds
/// back those that one may still imply: the first workpackage of a combination starts after those
/// of all smaller sizes have ended, and its further iterations after it. So the set of executed
/// workpackages does not depend on parallelism.
class Pruner {
 public:
  /// Reads past outcomes from the workspace, then follows the store.
  Pruner(const space::Run& run, const workspace::Workspace& workspace, StateStore& store);
  Pruner(const Pruner&) = delete;

  /// Updates which workpackages are skipped and held back.
  /// @returns whether it skipped any
  bool decide();

 private:
  using Size = std::vector<double>;  ///< The values of `larger`.
  /// Workpackages that can imply each other.
  struct Group {
    std::map<Size, std::vector<long long>> by_size;  ///< Ids ascending.
    std::set<long long> combinations;
    std::map<Size, std::set<long long>>
        firsts;                               ///< The first of each combination, until it has run.
    std::map<Size, long long> out_of_memory;  ///< The first one of each size.
  };
  /// Step, and the parameters that the group shares.
  using Key = std::pair<std::string, space::FixedValues>;

  void follow(const workspace::Event& event);
  void add(const workspace::Workpackage& workpackage);
  void note(const workspace::Workpackage& workpackage, bool out_of_memory);
  bool decide(const model::Prune& prune, const Group& group);
  bool is_held(const Group& group, const Size& size, long long id) const;
  Key key_of(const workspace::Workpackage& workpackage) const;

  const space::Run& run_;
  StateStore& store_;
  std::map<Key, Group> groups_;
  std::set<Key> changed_;
  /// Of workpackages in a group.
  std::map<long long, std::pair<Key, Size>> places_;
};

}  // namespace bench::run
