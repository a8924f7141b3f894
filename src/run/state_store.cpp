#include "state_store.hpp"

#include "ready_queues.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/base/host.hpp>
#include <bench/base/outage.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/process.hpp>
#include <bench/base/uuid.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/transition.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

ChildExpansion::ChildExpansion(const space::Run& run, space::Graph& graph, ReadyQueues& queues)
    : run_(run), graph_(graph), queues_(queues) {}

/// Those that came before an error of the machine are completed first: so ids ascend.
void ChildExpansion::take_released() {
  if (is_refused())
    return;
  if (const auto ids = queues_.take_submitted(graph_.all()); !ids.empty()) {
    made_ahead_.parents = ids;
    to_make_.push_back({.parent_tuples = graph_.parent_tuples_ahead_of(ids), .ahead = true});
  }
  if (const auto ids = queues_.take_released(graph_.all()); !ids.empty()) {
    made_.parents = ids;
    to_make_.push_back({.parent_tuples = graph_.parent_tuples_of(ids)});
  }
}

workspace::Events ChildExpansion::make() {
  while (!to_make_.empty())
    make_some();
  workspace::Events events;
  if (!made_ahead_.parents.empty())
    events.emplace_back(std::exchange(made_ahead_, {}));
  if (!made_.parents.empty())
    events.emplace_back(std::exchange(made_, {}));
  return events;
}

/// A combination with an invalid value fails alone. Where the children of parents cannot be
/// expanded at all, one failed child represents them. Halves, so that a few bad ones among many
/// cost little.
void ChildExpansion::make_some() {
  const bool ahead = to_make_.front().ahead;
  std::vector<space::Graph::ParentTuple>& parent_tuples = to_make_.front().parent_tuples;
  std::vector<workspace::Workpackage> made;
  try {
    made = graph_.make_children(parent_tuples, space::Invalid::kept);
  } catch (const Error& error) {
    if (graph_.is_full() || is_fault_of_machine(error, run_.directory.path))
      throw;
    if (parent_tuples.size() > 1) {
      const auto middle =
          parent_tuples.begin() + static_cast<std::ptrdiff_t>(parent_tuples.size() / 2);
      Part second{.parent_tuples = {middle, parent_tuples.end()}, .ahead = ahead};
      parent_tuples.erase(middle, parent_tuples.end());
      to_make_.insert(to_make_.begin() + 1, std::move(second));
      return;
    }
    made = {graph_.make_failed_child(parent_tuples.front(), render(error))};
  }
  auto& children = ahead ? made_ahead_.children : made_.children;
  children.insert(children.end(), made.begin(), made.end());
  to_make_.pop_front();
}

using workspace::EnvironmentChanges;
using workspace::Event;
using workspace::State;
using workspace::Workpackage;

StateStore::StateStore(const space::Run& run, const workspace::Workspace& workspace,
                       evaluate::Evaluator& evaluator)
    : run_(run),
      graph_(run, workspace.workpackages(), evaluator),
      queues_(run),
      children_(run, graph_, queues_),
      environments_(workspace.environments()) {
  for (const model::Step& step : run_.benchmark.steps)
    counts_.push_back({.step = step.name});
  for (const Workpackage& workpackage : graph_.all())
    count_in(workpackage);
}

void StateStore::apply(const Event& event) {
  std::visit(
      [&](const auto& one) {
        using Kind = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<Kind, workspace::Expanded> ||
                      std::is_same_v<Kind, workspace::ExpandedAhead>)
          expand(one);
        else if constexpr (std::is_same_v<Kind, workspace::Reset> ||
                           std::is_same_v<Kind, workspace::Removed> ||
                           std::is_same_v<Kind, workspace::Reopened>)
          throw Error(Id::wrong_state,
                      "workpackages are taken back only while no bench works on the run");
        else
          change(one, one.workpackage, workspace::environment_after(event));
      },
      event);
  events_.push_back(event);
  for (const auto& listener : listeners_)
    listener(event);
}

template <class SomeEvent>
void StateStore::change(const SomeEvent& event, long long id,
                        const EnvironmentChanges* environment) {
  Workpackage& workpackage = graph_.at(id);
  workspace::require_legal(event.change(), id, workpackage.state);
  const std::size_t step = step_index(workpackage);
  --counts_[step].of(workpackage.state);
  queues_.remove(step, workpackage);
  workspace::apply(event, workpackage);
  ++counts_[step].of(workpackage.state);
  queues_.add(step, workpackage);
  any_failed_ = any_failed_ || workpackage.state == State::failed;
  if constexpr (std::is_same_v<SomeEvent, workspace::Claimed>)
    uuids_[id] = event.uuid;
  else if (workpackage.state != State::running && workpackage.state != State::submitted)
    uuids_.erase(id);
  if (environment)
    keep_environment(id, *environment);
  follow_chain(workpackage);
}

template <class Expansion>
void StateStore::expand(const Expansion& event) {
  for (const long long parent : event.parents)
    workspace::require_legal(event.change(), parent, graph_.at(parent).state);
  for (const long long id : event.parents) {
    Workpackage& parent = graph_.at(id);
    const std::size_t step = step_index(parent);
    queues_.remove(step, parent);
    workspace::apply(event, parent);
    queues_.add(step, parent);
  }
  for (const Workpackage& child : event.children) {
    count_in(child);
    any_failed_ = any_failed_ || child.state == State::failed;
  }
}

void StateStore::keep_environment(long long id, const EnvironmentChanges& environment) {
  if (environment.empty())
    environments_.erase(id);
  else
    environments_[id] = environment;
}

void StateStore::count_in(const Workpackage& workpackage) {
  const std::size_t step = step_index(workpackage);
  ++counts_[step].of(workpackage.state);
  if (run_.metadata.chained && !workpackage.has_ended())
    for (const long long parent : workpackage.parents)
      if (at(parent).state != State::done) {
        chained_children_[parent].push_back(workpackage.id);
        chained_news_.insert(workpackage.id);
        if (at(parent).state != State::submitted)
          queues_.hold(workpackage.id, Hold::parents);
      }
  queues_.add(step, workpackage);
}

bool StateStore::is_ahead(const Workpackage& workpackage) const {
  return std::ranges::any_of(workpackage.parents,
                             [&](long long parent) { return at(parent).state != State::done; });
}

/// A chained workpackage may start while each of its parents is done or has a job: it waits for
/// these in the batch system.
void StateStore::follow_chain(const Workpackage& changed) {
  if (!run_.metadata.chained)
    return;
  if (is_ahead(changed))
    chained_news_.insert(changed.id);
  const auto children = chained_children_.find(changed.id);
  if (children == chained_children_.end())
    return;
  for (const long long id : children->second) {
    chained_news_.insert(id);
    const bool any_open = std::ranges::any_of(at(id).parents, [&](long long parent) {
      const State state = at(parent).state;
      return state != State::done && state != State::submitted;
    });
    if (any_open)
      hold(id, Hold::parents);
    else
      let_go(id, Hold::parents);
  }
}

void StateStore::expand_first() {
  apply(workspace::Expanded{.parents = {}, .children = graph_.make_first()});
}

void StateStore::expand_released() {
  children_.take_released();
  for (const Event& expanded : children_.make())
    apply(expanded);
}

bool StateStore::add_iterations(long long of, int begin, int end) {
  return add(graph_.make_iterations(of, begin, end));
}

bool StateStore::add_variant(long long of, const std::string& parameter, const std::string& value) {
  return add(graph_.make_variant(of, {{parameter, value}}));
}

bool StateStore::add(std::vector<Workpackage> made) {
  if (made.empty())
    return false;
  apply(workspace::Expanded{.parents = {}, .children = std::move(made)});
  return true;
}

void StateStore::hold(long long id, Hold why) {
  if (queues_.is_held(id, why))
    return;
  queues_.hold(id, why);
  defer(id);
}

void StateStore::let_go(long long id, Hold why) {
  if (!queues_.is_held(id, why))
    return;
  const Workpackage& workpackage = at(id);
  queues_.remove(step_index(workpackage), workpackage);
  queues_.let_go(id, why);
  queues_.add(step_index(workpackage), workpackage);
}

void StateStore::defer(long long id) {
  const Workpackage& workpackage = at(id);
  queues_.defer(step_index(workpackage), workpackage);
}

const model::Step& StateStore::step_of(const Workpackage& workpackage) const {
  return run_.benchmark.steps[step_index(workpackage)];
}

const EnvironmentChanges& StateStore::environment(long long id) const {
  static const EnvironmentChanges none;
  const auto found = environments_.find(id);
  return found == environments_.end() ? none : found->second;
}

EnvironmentChanges StateStore::inherited_environment(long long id) const {
  const Workpackage& workpackage = at(id);
  if (workpackage.progress != workspace::Progress{})
    return environment(id);
  EnvironmentChanges inherited;
  for (const long long parent : workpackage.parents) {
    if (!step_of(at(parent)).exported)
      continue;
    // As in JUBE, what a parent has unset stays set in its children.
    std::ranges::copy_if(environment(parent), std::back_inserter(inherited),
                         [](const auto& change) { return change.second.has_value(); });
  }
  return inherited;
}

const workspace::StepCounts& StateStore::counts_of(const model::Step& step) const {
  return counts_[run_.benchmark.index_of(step.name)];
}

const std::vector<long long>& StateStore::members(const model::Step& step) const {
  return queues_.members(run_.benchmark.index_of(step.name));
}

bool StateStore::has_unexpanded(const model::Step& step) const {
  return queues_.has_unexpanded(run_.benchmark.index_of(step.name));
}

int StateStore::limit(const model::Step& step) const {
  return queues_.concurrency().limit(run_.benchmark.index_of(step.name));
}

int StateStore::concurrent_beside(const Workpackage& workpackage) const {
  return queues_.concurrency().beside(step_index(workpackage), workpackage);
}

std::size_t StateStore::step_index(const Workpackage& workpackage) const {
  return run_.benchmark.index_of(workpackage.step);
}

const std::vector<Workpackage>* added_by(const Event& event) {
  if (const auto* expanded = std::get_if<workspace::Expanded>(&event))
    return &expanded->children;
  const auto* ahead = std::get_if<workspace::ExpandedAhead>(&event);
  return ahead ? &ahead->children : nullptr;
}

workspace::Claimed claim_of(const Workpackage& workpackage) {
  const std::string digits = space::segment_digits(workpackage);
  std::string uuid = make_uuid();
  uuid.replace(uuid.size() - digits.size(), digits.size(), digits);
  return {.workpackage = workpackage.id, .uuid = std::move(uuid), .host = host_name()};
}

}  // namespace bench::run
