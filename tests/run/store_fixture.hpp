#pragma once

#include "run/state_store.hpp"
#include "space/run_fixture.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <bench/run/observer.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

/// Keeps the notices.
class QuietObserver : public Observer {
 public:
  void progress(const std::vector<workspace::StepCounts>&) override {}
  void failed(const workspace::Workpackage&) override {}
  void repeated(const workspace::Workpackage&, const std::string&) override {}
  void notice(const std::string& message) override { notices.push_back(message); }
  void warn(const Warning&) override {}

  std::vector<std::string> notices;
};

/// A parameter set with four values.
inline const std::string four = "parameterset: {name: p, parameter: {n: [1, 2, 3, 4]}}\n";

/// A run with a workspace and the state store of a bench that works on it.
class StoreFixture : public space::RunFixture {
 protected:
  /// Makes the run, its workspace and its first workpackages.
  void begin(const std::string& yaml, const std::string& platform = "local") {
    plan(yaml, platform);
    create();
  }
  void create() {
    std::filesystem::remove_all(run_.directory.path);
    std::filesystem::create_directories(run_.directory.path);
    store_.reset();
    workspace_.emplace(workspace::Workspace::create(run_.directory.path, {}));
    store_.emplace(run_, *workspace_, evaluator_);
    store_->expand_first();
  }
  /// Replays what happened, and reads it again as another bench would.
  void reopen() {
    write();
    store_.emplace(run_, *workspace_, evaluator_);
  }
  void write() { workspace_->replay(store_->take_events()); }

  const ReadyQueues& queues() const { return store_->queues(); }

  /// Starts all that may start; returns their ids.
  std::vector<long long> start_all() {
    std::vector<long long> ids;
    for (long long id = queues().front(); id >= 0; id = queues().front()) {
      store_->apply(claim_of(store_->at(id)));
      ids.push_back(id);
    }
    return ids;
  }

  /// Claims all that may go to the batch system; returns their ids.
  std::vector<long long> claim_batch() {
    const std::vector<long long> ids = queues().batch_ready();
    for (const long long id : ids)
      store_->apply(claim_of(store_->at(id)));
    return ids;
  }

  void end(long long id, Outcome outcome = Outcome::done) {
    store_->apply(
        workspace::Ended{.workpackage = id, .attempt = {.outcome = outcome}, .environment = {}});
  }
  void interrupt(long long id) {
    store_->apply(workspace::Interrupted{.workpackage = id, .reason = "cut off"});
  }
  void advance(long long id, workspace::State to, workspace::Progress progress = {true, 0, 0},
               workspace::EnvironmentChanges environment = {}) {
    store_->apply(workspace::Advanced{
        .workpackage = id, .to = to, .progress = progress, .environment = std::move(environment)});
  }

  /// Makes the children of what is released; returns the ids of their parents.
  std::vector<long long> release() {
    const auto expanded = [&] {
      std::vector<long long> ids;
      for (const workspace::Workpackage& workpackage : store_->all())
        if (workpackage.expanded)
          ids.push_back(workpackage.id);
      return ids;
    };
    const std::vector<long long> before = expanded();
    store_->expand_released();
    std::vector<long long> released;
    std::ranges::set_difference(expanded(), before, std::back_inserter(released));
    return released;
  }

  std::optional<workspace::Workspace> workspace_;
  std::optional<StateStore> store_;
};

}  // namespace bench::run
