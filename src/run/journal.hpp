#pragma once

#include "outage_watch.hpp"
#include "state_store.hpp"

#include <atomic>

#include <bench/workspace/workspace.hpp>

namespace bench::scheduler {

/// Tells the workspace what happened in the state store. Written before any side effect of which a
/// later bench has to know.
class Journal {
 public:
  Journal(store::StateStore& store, workspace::Workspace& workspace, OutageWatch& outages,
          const std::atomic<bool>* interrupted)
      : store_(store), workspace_(workspace), outages_(outages), interrupted_(interrupted) {}

  /// Replays the store's events into the workspace, in one transaction. What the machine refuses is
  /// tried again for a while; readers and commands go on.
  /// @throws Error if it cannot be written
  void write();
  /// The user wants bench to end.
  bool is_interrupted() const { return interrupted_ && *interrupted_; }

 private:
  store::StateStore& store_;
  workspace::Workspace& workspace_;
  OutageWatch& outages_;
  const std::atomic<bool>* interrupted_;  ///< Null: never.
};

}  // namespace bench::scheduler
