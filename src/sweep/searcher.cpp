#include "rounds.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/outcome.hpp>
#include <bench/base/text.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/job/segment.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/setup/run.hpp>
#include <bench/store/state_store.hpp>
#include <bench/sweep/search.hpp>
#include <bench/sweep/searcher.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::sweep {

using workspace::State;
using workspace::Workpackage;

Searcher::Searcher(const setup::Run& run, const workspace::Workspace& workspace,
                   store::StateStore& store, evaluate::Evaluator& evaluator)
    : run_(run), store_(store), values_(run, store.graph(), evaluator) {
  for (const model::Step& step : run.benchmark.steps)
    if (step.search)
      courses_[step.name];
  if (courses_.empty())
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
  if (const auto* added = store::added_by(event)) {
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
  const auto found = courses_.find(workpackage.step);
  if (found == courses_.end() || workpackage.was_never_made())
    return;
  const model::Step& step = store_.step_of(workpackage);
  const std::string& parameter = step.search->parameter;
  const std::string* text = workspace::value_of(workpackage.parameters, parameter);
  const auto value = text ? parse_integer(*text) : std::nullopt;
  if (!value)
    return;
  expand::FixedValues others = store_.graph().independent_values(workpackage, {parameter});
  std::vector<std::string> texts;
  for (const auto& [name, of_name] : others)
    texts.push_back(fmt::format("{}={}", name, of_name));
  Course& course = found->second[{workpackage.parents, std::move(others)}];
  course.shared = join(texts, " ");
  course.tried[*value].push_back(workpackage.id);
}

void Searcher::decide() {
  if (!std::exchange(changed_, false))
    return;
  const bool round_over = is_round_over(run_, store_);
  for (auto& [name, of_step] : courses_) {
    const model::Step& step = *run_.benchmark.step(name);
    if (!round_over && !job::is_scheduled(run_, step))
      continue;
    std::vector<Course*> ready;
    for (auto& [key, course] : of_step)
      if (!course.ended && has_ended(course))
        ready.push_back(&course);
    std::ranges::sort(ready, {},
                      [](const Course* one) { return one->tried.begin()->second.front(); });
    for (Course* course : ready)
      decide(step, *course);
  }
}

/// Whether all that it has tried has.
bool Searcher::has_ended(const Course& course) const {
  return std::ranges::all_of(course.tried, [&](const auto& one) {
    return std::ranges::all_of(one.second, [&](long long id) { return store_.at(id).has_ended(); });
  });
}

void Searcher::decide(const model::Step& step, Course& course) {
  std::vector<Probe> probes;
  for (const auto& [value, ids] : course.tried) {
    bool fits = true;
    for (const long long id : ids) {
      const Workpackage& workpackage = store_.at(id);
      if (out_of_memory_.contains(id) || workpackage.state == State::skipped)
        fits = false;
      else if (workpackage.state == State::failed)
        course.obstacle = fmt::format("workpackage {} failed: {}", id, workpackage.reason);
    }
    probes.push_back({.value = value, .fits = fits});
  }
  const auto next = next_value(*step.search, probes);
  course.ended = !next || !course.obstacle.empty();
  if (course.ended)
    return;
  const std::string text = std::to_string(*next);
  if (!store_.add_variant(course.tried.begin()->second.front(), step.search->parameter, text)) {
    course.obstacle = fmt::format("`where` or `active` drops {}={}", step.search->parameter, text);
    course.ended = true;
  }
}

std::optional<double> Searcher::mean_of(const std::vector<long long>& ids,
                                        const std::string& name) const {
  double sum = 0;
  int count = 0;
  for (const long long id : ids)
    if (const Workpackage& workpackage = store_.at(id); workpackage.state == State::done)
      if (const auto value = values_.number(workpackage, name)) {
        sum += *value;
        ++count;
      }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

/// `batch_size=777 is the largest that fits, with rate=7770`
std::string Searcher::found(const model::Search& search, const Course& course) const {
  std::vector<Probe> probes;
  std::optional<long long> best;
  std::map<long long, double> values;
  for (const auto& [value, ids] : course.tried) {
    const bool fits =
        std::ranges::all_of(ids, [&](long long id) { return store_.at(id).state == State::done; });
    probes.push_back({.value = value, .fits = fits});
    const auto mean = fits ? mean_of(ids, search.value) : std::nullopt;
    if (!mean)
      continue;
    values[value] = *mean;
    if (!best || (search.maximise ? *mean >= values[*best] : *mean <= values[*best]))
      best = value;
  }
  const auto largest = largest_fit(probes);
  if (!largest)
    return fmt::format("{}={} has too little memory", search.parameter, probes.front().value);
  std::string text = fmt::format(
      "{}={} {}", search.parameter, *largest,
      *largest < search.to ? "is the largest that fits" : "fits, the largest of the range");
  if (best)
    text += values.contains(*largest)
                ? fmt::format(", with {}={:.6g}", search.value, values[*largest])
                : "";
  if (best && *best != *largest)
    text += fmt::format("; {} does not get better all the way: at {} it is {:.6g}", search.value,
                        *best, values[*best]);
  if (is_contradictory(probes))
    text += "; larger ones fit, too, so that there is no one limit";
  return text;
}

std::vector<std::string> Searcher::notices() const {
  std::vector<std::string> notices;
  for (const model::Step& step : run_.benchmark.steps) {
    if (!step.search)
      continue;
    for (const auto& [key, course] : courses_.at(step.name))
      if (course.ended)
        notices.push_back(fmt::format(
            "step {}{}: {}", step.name, course.shared.empty() ? "" : ", " + course.shared,
            course.obstacle.empty() ? found(*step.search, course)
                                    : "the search has ended early: " + course.obstacle));
  }
  return notices;
}

}  // namespace bench::sweep
