#pragma once

#include "state_store.hpp"

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include <bench/base/outage.hpp>
#include <bench/run/observer.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

/// Tells the user of what the machine refuses, and the loop whether to wait for it.
class OutageWatch {
 public:
  explicit OutageWatch(Observer& observer,
                       std::function<Outage::Clock::time_point()> now = Outage::Clock::now)
      : observer_(observer), outage_(std::move(now)) {}

  /// The machine has refused something.
  /// @returns whether to try it again after `seconds_to_retry`
  bool try_again(const std::string& reason);
  /// A workpackage could not start, and the patience is over.
  void give_up_start() { ++given_up_; }
  /// The machine works.
  void end();
  /// Tells of it, once until the machine has worked again.
  void tell(const std::string& reason);

  /// Something is to be tried again.
  bool lasts() const { return outage_.lasts(); }
  double seconds_to_retry() const { return outage_.seconds_to_retry(); }
  bool lets_start() const { return seconds_to_retry() <= 0 && !is_given_up(); }
  /// No other workpackage is tried: one may need something that others do not, but where several in
  /// a row cannot start, the machine is at fault.
  bool is_given_up() const { return given_up_ >= 3; }

 private:
  Observer& observer_;
  Outage outage_;
  bool told_ = false;
  int given_up_ = 0;  ///< Workpackages, one after the other.
};

/// Tells the workspace what happened in the state store. Written before any side effect of which a
/// later bench has to know.
class Journal {
 public:
  Journal(StateStore& store, workspace::Workspace& workspace, OutageWatch& outages,
          const std::atomic<bool>* interrupted)
      : store_(store), workspace_(workspace), outages_(outages), interrupted_(interrupted) {}

  /// Replays the store's events into the workspace, in one transaction. What the machine refuses is
  /// tried again for a while; readers and commands go on.
  /// @throws Error if it cannot be written
  void write();
  /// The user wants bench to end.
  bool is_interrupted() const { return interrupted_ && *interrupted_; }

 private:
  StateStore& store_;
  workspace::Workspace& workspace_;
  OutageWatch& outages_;
  const std::atomic<bool>* interrupted_;  ///< Null: never.
};

}  // namespace bench::run
