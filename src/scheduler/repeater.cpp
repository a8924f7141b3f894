#include "repeater.hpp"

#include "repetition.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/time.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/job/job_request.hpp>
#include <bench/job/prepare.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/setup/run.hpp>
#include <bench/store/state_store.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::scheduler {

using workspace::State;
using workspace::Workpackage;

Repeater::Repeater(const setup::Run& run, const workspace::Workspace& workspace,
                   store::StateStore& store, evaluate::Evaluator& evaluator)
    : run_(run), store_(store), evaluator_(evaluator), values_(run, store.graph(), evaluator) {
  for (const model::Step& step : run.benchmark.steps)
    if (step.repetition)
      series_[step.name];
  if (series_.empty())
    return;
  std::unordered_map<long long, double> durations_s;
  for (const workspace::Attempt& attempt : workspace.attempts())
    if (attempt.started_unix_s && attempt.ended_unix_s)
      durations_s[attempt.workpackage] = *attempt.ended_unix_s - *attempt.started_unix_s;
  for (const Workpackage& workpackage : store.all())
    add(workpackage);
  for (const Workpackage& workpackage : store.all())
    if (workpackage.has_ended())
      end(workpackage, durations_s[workpackage.id]);
  store.listen([this](const workspace::Event& event) { follow(event); });
}

void Repeater::follow(const workspace::Event& event) {
  if (const auto* expanded = std::get_if<workspace::Expanded>(&event)) {
    for (const Workpackage& child : expanded->children)
      add(child);
  } else if (const auto* ended = std::get_if<workspace::Ended>(&event)) {
    const workspace::AttemptEnd& attempt = ended->attempt;
    const double ended_unix_s = attempt.ended_unix_s.value_or(unix_time_now());
    end(store_.at(ended->workpackage),
        ended_unix_s - attempt.started_unix_s.value_or(ended_unix_s));
  } else if (const auto* skipped = std::get_if<workspace::Skipped>(&event)) {
    end(store_.at(skipped->workpackage), 0);
  }
}

void Repeater::add(const Workpackage& workpackage) {
  const auto found = series_.find(workpackage.step);
  if (found == series_.end() || workpackage.was_never_made())
    return;
  const Key key{workpackage.combination, workpackage.parents};
  Series& series = found->second.all[key];
  series.ids.push_back(workpackage.id);
  ++series.open;
}

void Repeater::end(const Workpackage& workpackage, double duration_s) {
  const auto found = series_.find(workpackage.step);
  if (found == series_.end() || workpackage.was_never_made())
    return;
  StepSeries& of_step = found->second;
  const Key key{workpackage.combination, workpackage.parents};
  if (--of_step.all[key].open == 0)
    of_step.settled.insert(key);
  const model::Repetition& repetition = *store_.step_of(workpackage).repetition;
  constexpr double seconds_per_hour = 3600;
  if (repetition.budget_node_hours)
    of_step.used_node_hours += duration_s * nodes_of(workpackage) / seconds_per_hour;
  if (repetition.budget_wh && workpackage.state == State::done)
    of_step.used_wh += value_of(workpackage, "energy_wh").value_or(0);
  ++of_step.ended;
}

void Repeater::decide() {
  for (auto& [name, of_step] : series_) {
    const model::Step& step = *run_.benchmark.step(name);
    if (of_step.settled.empty() || !may_decide(step))
      continue;
    std::vector<Key> keys(of_step.settled.begin(), of_step.settled.end());
    std::ranges::sort(keys, {}, [&](const Key& key) { return of_step.all[key].ids.front(); });
    of_step.settled.clear();
    for (const Key& key : keys)
      decide(step, of_step, key);
  }
}

bool Repeater::is_scheduled(const model::Step& step) const {
  return step.batch && run_.platform.capabilities().queues_jobs;
}

bool Repeater::may_decide(const model::Step& step) const {
  const workspace::StepCounts& counts = store_.counts_of(step);
  return is_scheduled(step) || counts.ready + counts.running == 0;
}

void Repeater::decide(const model::Step& step, StepSeries& of_step, const Key& key) {
  Series& series = of_step.all[key];
  std::vector<double> values;
  int failed = 0;
  for (const long long id : series.ids)
    if (const Workpackage& workpackage = store_.at(id); workpackage.state != State::done)
      ++failed;
    else if (const auto value = value_of(workpackage, step.repetition->value))
      values.push_back(*value);
  const auto count = static_cast<int>(series.ids.size());
  const RepetitionDecision decision = scheduler::decide(*step.repetition,
                                                        {.iterations = count,
                                                         .values = values,
                                                         .failed = failed,
                                                         .affordable = affordable(step, of_step)},
                                                        is_scheduled(step));
  series.unknown = decision.reason;
  if (decision.more > 0)
    store_.add_iterations(series.ids.front(), count, count + decision.more);
}

/// How many more workpackages of mean cost the budget has room for, those under way included.
int Repeater::affordable(const model::Step& step, const StepSeries& of_step) const {
  const workspace::StepCounts& counts = store_.counts_of(step);
  const auto under_way = static_cast<double>(counts.all() - counts.ended());
  double most = std::numeric_limits<int>::max();
  const auto bound = [&](const std::optional<double>& budget, double used) {
    if (budget && used > 0)
      most = std::min(most,
                      (*budget - used) / (used / static_cast<double>(of_step.ended)) - under_way);
  };
  bound(step.repetition->budget_node_hours, of_step.used_node_hours);
  bound(step.repetition->budget_wh, of_step.used_wh);
  return static_cast<int>(std::max(0.0, std::floor(most)));
}

std::optional<double> Repeater::value_of(const Workpackage& workpackage, const std::string& name) {
  const auto [known, is_new] = known_values_.try_emplace({workpackage.id, name});
  if (is_new)
    known->second = values_.number(workpackage, name);
  return known->second;
}

int Repeater::nodes_of(const Workpackage& workpackage) const {
  if (!is_scheduled(store_.step_of(workpackage)))
    return 1;
  return job::job_request_of(*job::context_of(run_, store_.graph(), workpackage, evaluator_))
      .resources.nodes;
}

std::vector<std::string> Repeater::notices() const {
  constexpr std::size_t most_shown = 5;
  std::vector<std::string> notices;
  for (const model::Step& step : run_.benchmark.steps) {
    if (!step.repetition)
      continue;
    std::vector<std::pair<long long, std::string>> unknown;
    const StepSeries& of_step = series_.at(step.name);
    for (const auto& [key, series] : of_step.all)
      if (!series.unknown.empty())
        unknown.emplace_back(series.ids.front(), series.unknown);
    if (unknown.empty())
      continue;
    std::ranges::sort(unknown);
    std::string text = fmt::format("step {}: {} of {} combinations do not reach {}:", step.name,
                                   unknown.size(), of_step.all.size(), step.repetition->text);
    for (std::size_t k = 0; k < std::min(unknown.size(), most_shown); ++k)
      text += fmt::format("\n  workpackage {}: {}", unknown[k].first, unknown[k].second);
    notices.push_back(text + (unknown.size() > most_shown ? "\n  ..." : ""));
  }
  return notices;
}

}  // namespace bench::scheduler
