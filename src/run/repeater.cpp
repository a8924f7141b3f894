#include "repeater.hpp"

#include "state_store.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
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
#include <bench/model/benchmark.hpp>
#include <bench/numbers/reals.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

bool is_round_over(const space::Run& run, const StateStore& store) {
  return std::ranges::all_of(run.benchmark.steps, [&](const model::Step& step) {
    const workspace::StepCounts& counts = store.counts_of(step);
    return space::is_scheduled(run, step) || counts.ready + counts.running == 0;
  });
}

namespace {

/// `2.3 %`, or `0.4` in the unit of the value.
std::string width_text(const model::Repetition& repetition, double width) {
  constexpr double percent = 100;
  return repetition.relative ? fmt::format("{:.2g} %", width * percent)
                             : fmt::format("{:.3g}", width);
}

double width_of(const model::Repetition& repetition, const Repeated& repeated) {
  const double half = numbers::mean_halfwidth(repeated.values);
  if (!repetition.relative)
    return half;
  return half == 0 ? 0 : half / std::fabs(numbers::mean(repeated.values));
}

/// The width of the interval falls with the square root of the number of values.
int expected_more(const Repeated& repeated, double width, double limit) {
  const auto count = static_cast<double>(repeated.values.size());
  const double needed = count * (width / limit) * (width / limit);
  return static_cast<int>(
      std::clamp(std::ceil(needed - count), 1.0, std::max(1.0, std::floor(count))));
}

}  // namespace

RepetitionDecision decide(const model::Repetition& repetition, const Repeated& repeated,
                          bool by_estimate) {
  if (repeated.values.empty())
    return {.reason = fmt::format("no iteration has a value of {}", repetition.value)};
  if (!std::ranges::all_of(repeated.values, [](double value) { return std::isfinite(value); }))
    return {.reason = fmt::format("{} is not finite in all iterations", repetition.value)};
  const double width = width_of(repetition, repeated);
  if (width < repetition.limit)
    return {.known = true};
  if (repeated.dominated)
    return {};
  const std::string state =
      fmt::format("{} after {} iterations", width_text(repetition, width), repeated.iterations);
  if (2 * repeated.failed >= repeated.iterations)
    return {.reason = fmt::format("{}, of which {} failed", state, repeated.failed)};
  if (repeated.next >= repetition.most)
    return {.reason = state + ", the maximum"};
  if (repeated.affordable < 1)
    return {.reason = state + ", and the budget is used up"};
  const int wanted = by_estimate ? expected_more(repeated, width, repetition.limit) : 1;
  return {.more = std::min({wanted, repetition.most - repeated.next, repeated.affordable})};
}

using workspace::State;
using workspace::Workpackage;

namespace {

/// One line for each of the first few workpackages.
std::string lines_of(const std::map<long long, std::string>& texts) {
  constexpr std::size_t most = 5;
  std::string lines;
  std::size_t count = 0;
  for (const auto& [id, text] : texts) {
    if (count++ == most)
      return lines + "\n  ...";
    lines += fmt::format("\n  workpackage {}: {}", id, text);
  }
  return lines;
}

}  // namespace

Repeater::Repeater(const space::Run& run, const workspace::Workspace& workspace, StateStore& store,
                   evaluate::Evaluator& evaluator)
    : run_(run), store_(store), evaluator_(evaluator), values_(run, store.graph(), evaluator) {
  for (const model::Step& step : run.benchmark.steps)
    if (step.repetition)
      series_[step.name];
  if (series_.empty())
    return;
  std::unordered_map<long long, double> durations_s;
  for (const workspace::Attempt& attempt : workspace.attempts())
    durations_s[attempt.workpackage] = attempt.run_time_s().value_or(0);
  for (const Workpackage& workpackage : store.all())
    add(workpackage);
  for (const Workpackage& workpackage : store.all())
    if (workpackage.has_ended())
      end(workpackage, durations_s[workpackage.id]);
  store.listen([this](const workspace::Event& event) { follow(event); });
}

void Repeater::follow(const workspace::Event& event) {
  if (const auto* added = added_by(event)) {
    for (const Workpackage& child : *added)
      add(child);
  } else if (const auto* ended = std::get_if<workspace::Ended>(&event)) {
    const AttemptEnd& attempt = ended->attempt;
    const double ended_unix_s = attempt.ended_unix_s.value_or(unix_time_now());
    end(store_.at(ended->workpackage),
        std::max(0.0, ended_unix_s - attempt.started_unix_s.value_or(ended_unix_s)));
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
  const bool is_first = series.ids.empty();
  series.ids.push_back(workpackage.id);
  ++series.open;
  if (const auto& race = store_.step_of(workpackage).repetition->race; race && is_first)
    series.rivals = workspace::values_of(workpackage.parameters, race->per);
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
  if (std::ranges::all_of(series_, [](const auto& one) { return one.second.settled.empty(); }))
    return;
  const bool round_over = is_round_over(run_, store_);
  for (auto& [name, of_step] : series_) {
    const model::Step& step = *run_.benchmark.step(name);
    if (of_step.settled.empty() || !(round_over || space::is_scheduled(run_, step)))
      continue;
    // In a race, a result of one combination may stop or resume any other.
    std::vector<Series*> ended;
    for (auto& [key, series] : of_step.all)
      if (series.open == 0 && (step.repetition->race || of_step.settled.contains(key)))
        ended.push_back(&series);
    of_step.settled.clear();
    std::ranges::sort(ended, {}, [](const Series* series) { return series->ids.front(); });
    for (Series* series : ended)
      take_values(step, *series);
    for (Series* series : ended)
      decide(step, of_step, *series);
  }
}

void Repeater::take_values(const model::Step& step, Series& series) {
  const model::Repetition& repetition = *step.repetition;
  series.values.clear();
  for (const long long id : series.ids)
    if (const Workpackage& workpackage = store_.at(id); workpackage.state == State::done)
      if (const auto value = value_of(workpackage, repetition.value))
        series.values.push_back(*value);
  if (!repetition.race || series.values.empty())
    return;
  const double half = numbers::mean_halfwidth(series.values);
  // A single value has no finite interval, nor have values of which one is nan or infinite.
  const double mean = std::isfinite(half) ? numbers::mean(series.values) : 0;
  const double middle = repetition.race->maximise ? mean : -mean;
  series.low = middle - half;
  series.high = middle + half;
}

/// The first workpackage of the best rival if its interval lies above that of the series.
std::optional<long long> Repeater::better_one(const StepSeries& of_step, const Series& series) {
  const Series* best = nullptr;
  for (const auto& [key, other] : of_step.all)
    if (!other.values.empty() && other.rivals == series.rivals && (!best || best->low < other.low))
      best = &other;
  if (!best || series.values.empty() || !(series.high < best->low))
    return std::nullopt;
  return best->ids.front();
}

void Repeater::decide(const model::Step& step, StepSeries& of_step, Series& series) {
  series.better = step.repetition->race ? better_one(of_step, series) : std::nullopt;
  const auto failed = std::ranges::count_if(
      series.ids, [&](long long id) { return store_.at(id).state != State::done; });
  Repeated repeated{.iterations = static_cast<int>(series.ids.size()),
                    .next = next_number(step, series),
                    .values = series.values,
                    .failed = static_cast<int>(failed),
                    .affordable = affordable(step, of_step),
                    .dominated = series.better.has_value()};
  for (;;) {
    const RepetitionDecision decision =
        run::decide(*step.repetition, repeated, space::is_scheduled(run_, step));
    if (decision.known)
      series.better.reset();
    series.unknown = decision.reason;
    const int end = repeated.next + decision.more;
    if (decision.more == 0 || store_.add_iterations(series.ids.front(), repeated.next, end))
      return;
    repeated.next = end;  // `active` drops these
  }
}

int Repeater::next_number(const model::Step& step, const Series& series) const {
  int next = 0;
  for (const long long id : series.ids)
    next = std::max(next, store_.at(id).iteration % step.most_iterations() + 1);
  return next;
}

/// How many more workpackages of mean cost the budget allows, including running ones.
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
  if (!space::is_scheduled(run_, store_.step_of(workpackage)))
    return 1;
  return space::job_request_of(*space::context_of(run_, store_.graph(), workpackage, evaluator_))
      .resources.nodes;
}

std::vector<std::string> Repeater::notices() const {
  std::vector<std::string> notices;
  for (const auto& [name, of_step] : series_) {
    std::map<long long, std::string> unknown;
    std::map<long long, std::string> dominated;
    for (const auto& [key, series] : of_step.all)
      if (!series.unknown.empty())
        unknown[series.ids.front()] = series.unknown;
      else if (series.better)
        dominated[series.ids.front()] = fmt::format("worse than workpackage {} after {} iterations",
                                                    *series.better, series.ids.size());
    const std::string& condition = run_.benchmark.step(name)->repetition->text;
    const auto add = [&](const std::map<long long, std::string>& some, const std::string& what) {
      if (!some.empty())
        notices.push_back(fmt::format("step {}: {} of {} combinations {}:{}", name, some.size(),
                                      of_step.all.size(), what, lines_of(some)));
    };
    add(unknown, "do not reach " + condition);
    add(dominated, "cannot win");
  }
  return notices;
}

}  // namespace bench::run
