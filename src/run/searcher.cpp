#include "searcher.hpp"

#include "repeater.hpp"
#include "state_store.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/outcome.hpp>
#include <bench/base/text.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/reals.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

namespace {

std::optional<long long> smallest_misfit(std::span<const Probe> probes) {
  std::optional<long long> smallest;
  for (const Probe& probe : probes)
    if (!probe.fits)
      smallest = std::min(smallest.value_or(probe.value), probe.value);
  return smallest;
}

}  // namespace

std::optional<long long> largest_fit(std::span<const Probe> probes) {
  const auto misfit = smallest_misfit(probes);
  std::optional<long long> largest;
  for (const Probe& probe : probes)
    if (probe.fits && (!misfit || probe.value < *misfit))
      largest = std::max(largest.value_or(probe.value), probe.value);
  return largest;
}

bool is_contradictory(std::span<const Probe> probes) {
  const auto misfit = smallest_misfit(probes);
  return misfit && std::ranges::any_of(probes, [&](const Probe& probe) {
           return probe.fits && probe.value > *misfit;
         });
}

int most_values(const model::Search& search) {
  const auto halvings = [](long long of, long long by) {
    int count = 0;
    for (; by < of; by *= 2)
      ++count;
    return count;
  };
  return 1 + halvings(search.to, search.from) + halvings(search.to, 2 * search.multiple_of);
}

std::optional<long long> next_value(const model::Search& search, std::span<const Probe> probes) {
  if (probes.empty())
    return search.from;
  const auto fit = largest_fit(probes);
  if (!fit)
    return std::nullopt;
  const auto misfit = smallest_misfit(probes);
  if (!misfit && *fit >= search.to)
    return std::nullopt;
  const long long wanted = misfit ? *fit + (*misfit - *fit) / 2 : std::min(2 * *fit, search.to);
  const long long next = wanted - wanted % search.multiple_of;
  return next > *fit ? std::optional(next) : std::nullopt;
}

using workspace::State;
using workspace::Workpackage;

Searcher::Searcher(const space::Run& run, const workspace::Workspace& workspace, StateStore& store,
                   evaluate::Evaluator& evaluator)
    : run_(run), store_(store), values_(run, store.graph(), evaluator) {
  for (const model::Step& step : run.benchmark.steps)
    if (step.search)
      searches_[step.name];
  if (searches_.empty())
    return;
  for (const workspace::Attempt& attempt : workspace.attempts())
    if (attempt.outcome == name_of(Outcome::out_of_memory) &&
        store.at(attempt.workpackage).state == State::failed)
      out_of_memory_.insert(attempt.workpackage);
  for (const Workpackage& workpackage : store.all())
    add(workpackage);
  store.listen([this](const workspace::Event& event) { follow(event); });
}

void Searcher::follow(const workspace::Event& event) {
  if (const auto* added = added_by(event)) {
    for (const Workpackage& child : *added)
      add(child);
  } else if (const auto* ended = std::get_if<workspace::Ended>(&event)) {
    changed_ = true;
    if (ended->attempt.outcome == Outcome::out_of_memory)
      out_of_memory_.insert(ended->workpackage);
  } else if (std::holds_alternative<workspace::Skipped>(event)) {
    changed_ = true;
  }
}

void Searcher::add(const Workpackage& workpackage) {
  const auto found = searches_.find(workpackage.step);
  if (found == searches_.end() || workpackage.was_never_made())
    return;
  const model::Step& step = store_.step_of(workpackage);
  const std::string& parameter = step.search->parameter;
  const std::string* text = workspace::value_of(workpackage.parameters, parameter);
  const auto value = text ? parse_integer(*text) : std::nullopt;
  if (!value)
    return;
  space::FixedValues others = store_.graph().independent_values(workpackage, {parameter});
  std::vector<std::string> texts;
  for (const auto& [name, of_name] : others)
    texts.push_back(fmt::format("{}={}", name, of_name));
  SearchState& state = found->second[{workpackage.parents, std::move(others)}];
  state.shared = join(texts, " ");
  state.tried[*value].push_back(workpackage.id);
}

void Searcher::decide() {
  if (!std::exchange(changed_, false))
    return;
  const bool round_over = is_round_over(run_, store_);
  for (auto& [name, of_step] : searches_) {
    const model::Step& step = *run_.benchmark.step(name);
    if (!round_over && !space::is_scheduled(run_, step))
      continue;
    std::vector<SearchState*> ready;
    for (auto& [key, state] : of_step)
      if (!state.ended && has_ended(state))
        ready.push_back(&state);
    std::ranges::sort(ready, {},
                      [](const SearchState* one) { return one->tried.begin()->second.front(); });
    for (SearchState* state : ready)
      decide(step, *state);
  }
}

/// Whether all tried values have ended.
bool Searcher::has_ended(const SearchState& state) const {
  return std::ranges::all_of(state.tried, [&](const auto& one) {
    return std::ranges::all_of(one.second, [&](long long id) { return store_.at(id).has_ended(); });
  });
}

void Searcher::decide(const model::Step& step, SearchState& state) {
  std::vector<Probe> probes;
  for (const auto& [value, ids] : state.tried) {
    bool fits = true;
    for (const long long id : ids) {
      const Workpackage& workpackage = store_.at(id);
      if (out_of_memory_.contains(id) || workpackage.state == State::skipped)
        fits = false;
      else if (workpackage.state == State::failed)
        state.stop_reason = fmt::format("workpackage {} failed: {}", id, workpackage.reason);
    }
    probes.push_back({.value = value, .fits = fits});
  }
  const auto next = next_value(*step.search, probes);
  state.ended = !next || !state.stop_reason.empty();
  if (state.ended)
    return;
  const std::string text = std::to_string(*next);
  if (!store_.add_variant(state.tried.begin()->second.front(), step.search->parameter, text)) {
    state.stop_reason =
        fmt::format("`where` or `active` drops {}={}", step.search->parameter, text);
    state.ended = true;
  }
}

std::optional<double> Searcher::median_of(const std::vector<long long>& ids,
                                          const std::string& name) const {
  std::vector<double> values;
  for (const long long id : ids)
    if (const Workpackage& workpackage = store_.at(id); workpackage.state == State::done)
      if (const auto value = values_.number(workpackage, name))
        values.push_back(*value);
  if (values.empty())
    return std::nullopt;
  const auto not_a_number =
      std::ranges::find_if(values, [](double value) { return std::isnan(value); });
  return not_a_number == values.end() ? numbers::median(std::move(values)) : *not_a_number;
}

/// `batch_size=777 is the largest that fits, with rate=7770`
std::string Searcher::found(const model::Search& search, const SearchState& state) const {
  std::vector<Probe> probes;
  std::optional<long long> best;
  std::map<long long, double> values;
  for (const auto& [value, ids] : state.tried) {
    const bool fits =
        std::ranges::all_of(ids, [&](long long id) { return store_.at(id).state == State::done; });
    probes.push_back({.value = value, .fits = fits});
    const auto median = fits ? median_of(ids, search.value) : std::nullopt;
    if (!median)
      continue;
    values[value] = *median;
    const bool is_best =
        !best || (search.maximise ? *median >= values[*best] : *median <= values[*best]);
    if (is_best && !std::isnan(*median))
      best = value;
  }
  const auto largest = largest_fit(probes);
  if (!largest)
    return fmt::format("{}={} does not fit into memory", search.parameter, probes.front().value);
  std::string text = fmt::format(
      "{}={} {}", search.parameter, *largest,
      *largest < search.to ? "is the largest that fits" : "fits, the largest of the range");
  if (values.contains(*largest))
    text += fmt::format(", with {}={:.6g}", search.value, values[*largest]);
  if (best && *best != *largest)
    text += fmt::format("; {} is better at {}: {:.6g}", search.value, *best, values[*best]);
  if (is_contradictory(probes))
    text += "; some larger values fit, too, so there is no single limit";
  return text;
}

std::vector<std::string> Searcher::notices() const {
  std::vector<std::string> notices;
  for (const model::Step& step : run_.benchmark.steps) {
    if (!step.search)
      continue;
    for (const auto& [key, state] : searches_.at(step.name))
      if (state.ended)
        notices.push_back(fmt::format(
            "step {}{}: {}", step.name, state.shared.empty() ? "" : ", " + state.shared,
            state.stop_reason.empty() ? found(*step.search, state)
                                      : "the search ended early: " + state.stop_reason));
  }
  return notices;
}

}  // namespace bench::run
