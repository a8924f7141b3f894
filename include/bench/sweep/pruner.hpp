#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <bench/expand/combination.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/setup/run.hpp>
#include <bench/store/state_store.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::sweep {

/// Whether an out-of-memory result implied it, and it was skipped: what becomes of it is decided
/// again once that result is gone.
bool is_implied(const workspace::Workpackage& workpackage);

/// Skips the workpackages of steps with `prune` that an out-of-memory result implies, and keeps
/// those from starting that one may still imply: the first of each combination starts once those of
/// all smaller sizes have ended, and its further iterations after it. So what runs does not depend
/// on how many run at a time.
class Pruner {
 public:
  /// Reads the outcomes so far from the workspace, and follows the store from then on.
  Pruner(const setup::Run& run, const workspace::Workspace& workspace, store::StateStore& store);
  Pruner(const Pruner&) = delete;
  Pruner& operator=(const Pruner&) = delete;
  ~Pruner() = default;

  /// Skips and holds back what follows from all that has happened.
  /// @returns whether it skipped any
  bool decide();

 private:
  using Size = std::vector<double>;  ///< The values of `larger`.
  /// Workpackages that say something of each other.
  struct Group {
    std::map<Size, std::vector<long long>> by_size;  ///< Ids ascending.
    std::set<long long> combinations;
    std::map<Size, std::set<long long>> firsts;  ///< One of each combination, until it has run.
    std::map<Size, long long> out_of_memory;     ///< The first one of each size.
  };
  /// Step, and what the workpackages of a group share.
  using Key = std::pair<std::string, expand::FixedValues>;

  void follow(const workspace::Event& event);
  void add(const workspace::Workpackage& workpackage);
  void note(const workspace::Workpackage& workpackage, bool out_of_memory);
  bool decide(const model::Prune& prune, const Group& group);
  bool is_held(const Group& group, const Size& size, long long id) const;
  Key key_of(const workspace::Workpackage& workpackage) const;

  const setup::Run& run_;
  store::StateStore& store_;
  std::map<Key, Group> groups_;
  std::set<Key> changed_;
  std::set<long long> held_;
  /// Of workpackages in a group.
  std::map<long long, std::pair<Key, Size>> places_;
};

}  // namespace bench::sweep
