#include "same_nodes.hpp"

#include "ready_queues.hpp"
#include "state_store.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/nodes.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

using workspace::State;
using workspace::Workpackage;

namespace {

bool keeps_nodes(const space::Run& run, const model::Step& step) {
  return step.batch && step.batch->same_nodes && run.platform.capabilities().queues_jobs &&
         space::is_scheduled(run, step);
}

}  // namespace

SameNodes::SameNodes(const space::Run& run, StateStore& store, evaluate::Evaluator& evaluator)
    : run_(run), store_(store), evaluator_(evaluator) {
  for (const model::Step& step : run.benchmark.steps) {
    if (!keeps_nodes(run, step))
      continue;
    needed_ = true;
    for (const long long id : store.members(step)) {
      const Workpackage& workpackage = store.at(id);
      if (workpackage.state == State::ready || workpackage.was_never_made())
        continue;
      NodeSet& set = set_of(workpackage);
      if (set.nodes.empty())
        set.nodes = space::nodes_of(run, workpackage);
      if (!workpackage.has_ended() && !set.first)
        set.first = id;
    }
  }
}

bool SameNodes::decide() {
  if (!needed_)
    return false;
  const std::vector<long long> queue = store_.queues().batch_ready();
  const std::set<long long> ready(queue.begin(), queue.end());
  bool any_let_go = false;
  for (auto& [key, set] : sets_)
    if (set.nodes.empty() && set.first)
      any_let_go |= follow_first(set, ready);
  for (const long long id : store_.queues().batch_ready()) {
    const Workpackage& workpackage = store_.at(id);
    if (!keeps_nodes(run_, store_.step_of(workpackage)))
      continue;
    NodeSet& set = set_of(workpackage);
    if (!set.nodes.empty() || set.any || set.first == id)
      continue;
    if (!set.first) {
      set.first = id;
    } else {
      store_.hold(id, Hold::nodes);
      set.waiting.insert(id);
    }
  }
  return any_let_go;
}

/// Lets the others go once the nodes are known; the next one if the first will never begin.
/// @param ready those that may be submitted now
/// @returns whether any was let go
bool SameNodes::follow_first(NodeSet& set, const std::set<long long>& ready) {
  const Workpackage& first = store_.at(*set.first);
  set.nodes = space::nodes_of(run_, first);
  set.any = first.state == State::done && set.nodes.empty();
  const bool is_decided = !set.nodes.empty() || set.any;
  const bool is_refused = first.state == State::ready && !ready.contains(first.id);
  if (!is_decided && !first.has_ended() && !is_refused)
    return false;
  std::set<long long> next;
  if (is_decided) {
    next.swap(set.waiting);
  } else {
    set.first.reset();
    if (!set.waiting.empty())
      next.insert(set.waiting.extract(set.waiting.begin()));
  }
  for (const long long id : next)
    store_.let_go(id, Hold::nodes);
  return !next.empty();
}

std::string SameNodes::nodes_for(const Workpackage& workpackage) {
  return keeps_nodes(run_, store_.step_of(workpackage)) ? set_of(workpackage).nodes : "";
}

SameNodes::NodeSet& SameNodes::set_of(const Workpackage& workpackage) {
  NodeSet*& known = set_of_[workpackage.id];
  if (!known) {
    const auto context = space::context_of(run_, store_.graph(), workpackage, evaluator_);
    known = &sets_[{workpackage.step,
                    space::same_nodes_key(*context->step.batch, [&](const std::string& text) {
                      return context->substitute(text);
                    })}];
  }
  return *known;
}

std::vector<std::string> SameNodes::notices() const {
  std::vector<std::string> notices;
  for (const auto& [key, set] : sets_) {
    const auto waiting = std::ranges::count_if(
        set.waiting, [&](long long id) { return store_.at(id).state == State::ready; });
    if (set.first && waiting > 0)
      notices.push_back(fmt::format(
          "step {}: {} workpackage{} until the job of workpackage {} has begun, to run on its "
          "nodes (`same_nodes`)",
          key.first, waiting, waiting == 1 ? " waits" : "s wait", *set.first));
    if (set.any)
      notices.push_back(
          fmt::format("step {}: the batch system did not say on which nodes "
                      "workpackage {} ran, so the others may have run elsewhere",
                      key.first, *set.first));
  }
  return notices;
}

}  // namespace bench::run
