#include "pruner.hpp"

#include "state_store.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/outcome.hpp>
#include <bench/base/text.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

using workspace::State;
using workspace::value_of;
using workspace::Workpackage;

namespace {

constexpr std::string_view implied_reason = "OOM (implied by ";

/// None if one of the values is not a number: such a workpackage is never implied.
std::optional<std::vector<double>> size_of(const Workpackage& workpackage,
                                           const std::vector<std::string>& names) {
  std::vector<double> size;
  for (const std::string& name : names) {
    const std::string* text = value_of(workpackage.parameters, name);
    const auto number = text ? parse_number(strip(*text)) : std::nullopt;
    if (!number || std::isnan(*number))
      return std::nullopt;
    size.push_back(*number);
  }
  return size;
}

bool is_at_least(const std::vector<double>& size, const std::vector<double>& other) {
  return std::ranges::equal(size, other, std::greater_equal<>());
}

/// `512`, or `batch_size=512 nodes=2`.
std::string size_text(const Workpackage& workpackage, const std::vector<std::string>& names) {
  if (names.size() == 1)
    return *value_of(workpackage.parameters, names.front());
  std::vector<std::string> texts;
  for (const std::string& name : names)
    texts.push_back(fmt::format("{}={}", name, *value_of(workpackage.parameters, name)));
  return join(texts, " ");
}

}  // namespace

bool is_implied(const Workpackage& workpackage) {
  return workpackage.state == State::skipped && workpackage.reason.starts_with(implied_reason);
}

Pruner::Pruner(const space::Run& run, const workspace::Workspace& workspace, StateStore& store)
    : run_(run), store_(store) {
  if (std::ranges::none_of(run.benchmark.steps,
                           [](const model::Step& step) { return step.prune.has_value(); }))
    return;
  for (const Workpackage& workpackage : store.all())
    add(workpackage);
  for (const workspace::Attempt& attempt : workspace.attempts())
    if (const Workpackage& workpackage = store.at(attempt.workpackage); workpackage.has_ended())
      note(workpackage, attempt.outcome == name_of(Outcome::out_of_memory));
  store.listen([this](const workspace::Event& event) { follow(event); });
}

void Pruner::follow(const workspace::Event& event) {
  if (const auto* added = added_by(event)) {
    for (const Workpackage& child : *added)
      add(child);
  } else if (const auto* ended = std::get_if<workspace::Ended>(&event)) {
    note(store_.at(ended->workpackage), ended->attempt.outcome == Outcome::out_of_memory);
  }
}

Pruner::Key Pruner::key_of(const Workpackage& workpackage) const {
  const model::Prune& prune = *store_.step_of(workpackage).prune;
  const std::set<std::string> larger(prune.larger.begin(), prune.larger.end());
  return {workpackage.step, prune.per ? workspace::values_of(workpackage.parameters, *prune.per)
                                      : store_.graph().independent_values(workpackage, larger)};
}

void Pruner::add(const Workpackage& workpackage) {
  const auto& prune = store_.step_of(workpackage).prune;
  if (!prune || workpackage.was_never_made())
    return;
  const auto size = size_of(workpackage, prune->larger);
  if (!size)
    return;
  const Key key = key_of(workpackage);
  Group& group = groups_[key];
  group.by_size[*size].push_back(workpackage.id);
  if (group.combinations.insert(workpackage.combination).second)
    group.firsts[*size].insert(workpackage.id);
  places_.emplace(workpackage.id, std::pair(key, *size));
  changed_.insert(key);
}

void Pruner::note(const Workpackage& workpackage, bool out_of_memory) {
  const auto found = places_.find(workpackage.id);
  if (found == places_.end())
    return;
  const auto& [key, size] = found->second;
  changed_.insert(key);
  Group& group = groups_[key];
  if (out_of_memory)
    group.out_of_memory.emplace(size, workpackage.id);
  if (const auto firsts = group.firsts.find(size); firsts != group.firsts.end()) {
    firsts->second.erase(workpackage.id);
    if (firsts->second.empty())
      group.firsts.erase(firsts);
  }
}

bool Pruner::decide() {
  bool any_skipped = false;
  while (!changed_.empty()) {
    const std::set<Key> changed = std::exchange(changed_, {});
    for (const Key& key : changed)
      any_skipped |= decide(*run_.benchmark.step(key.first)->prune, groups_[key]);
  }
  return any_skipped;
}

bool Pruner::decide(const model::Prune& prune, const Group& group) {
  bool any_skipped = false;
  for (const auto& [size, ids] : group.by_size) {
    const auto implied_by = std::ranges::find_if(
        group.out_of_memory, [&](const auto& one) { return is_at_least(size, one.first); });
    for (const long long id : ids) {
      const Workpackage& workpackage = store_.at(id);
      if (workpackage.state != State::ready || workpackage.progress != workspace::Progress{})
        continue;
      if (implied_by != group.out_of_memory.end()) {
        store_.apply(workspace::Skipped{
            .workpackage = id,
            .reason = fmt::format("{}{})", implied_reason,
                                  size_text(store_.at(implied_by->second), prune.larger))});
        any_skipped = true;
      } else if (is_held(group, size, id)) {
        store_.hold(id, Hold::prune);
      } else {
        store_.let_go(id, Hold::prune);
      }
    }
  }
  return any_skipped;
}

bool Pruner::is_held(const Group& group, const Size& size, long long id) const {
  return std::ranges::any_of(group.firsts, [&](const auto& one) {
    const auto& [other, ids] = one;
    return is_at_least(size, other) && std::ranges::any_of(ids, [&](long long first) {
             return (other != size || first < id) && !store_.at(first).has_ended();
           });
  });
}

}  // namespace bench::run
