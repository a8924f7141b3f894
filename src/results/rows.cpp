#include "rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/value.hpp>
#include <bench/energy/core/figures.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/table.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/space/variables.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::results {
namespace {

using workspace::Finding;
using workspace::State;
using workspace::Workpackage;

/// What an analyser that makes one row of several iterations found at each; null: not known.
const std::vector<Finding>* findings_of_each(const model::Analyser& analyser,
                                             const Analyses& analyses) {
  const auto each = analyses.find(name_of_each(analyser.name));
  return analyser.reduce && each != analyses.end() ? &each->second : nullptr;
}

std::string status_word(const std::vector<State>& states) {
  if (std::ranges::find(states, State::failed) != states.end())
    return "ERROR";
  if (std::ranges::find(states, State::skipped) != states.end())
    return "SKIPPED";
  const bool done = std::ranges::all_of(states, [](State state) { return state == State::done; });
  return done ? "DONE" : "RUNNING";
}

/// `000003` and a benchmark that is called `1e3` stay texts.
Value variable_value(std::string_view name, const std::string& text) {
  constexpr std::array<std::string_view, 6> numbers{"_id",    "_iteration", "_iterations",
                                                    "_cycle", "_cycles",    "_attempts"};
  const bool number = std::any_of(numbers.begin(), numbers.end(),
                                  [&](std::string_view end) { return name.ends_with(end); });
  return to_value(text, number ? ValueType::integer : ValueType::string);
}

}  // namespace

/// A parameter in the workpackages of one step.
struct Rows::ParameterOfStep {
  std::string name;  ///< Empty: the step gives the name no meaning.
  ValueType type = ValueType::string;

  Cell cell(const Workpackage& workpackage) const {
    const std::string* value =
        name.empty() ? nullptr : workspace::value_of(workpackage.parameters, name);
    return value ? Cell{.value = to_value(*value, type)} : Cell{};
  }
};

/// What a name says in each step: `n` a parameter of the row's head, `n_go` the parameter `n` of a
/// workpackage of step `go`.
class Rows::NameInSteps {
 public:
  NameInSteps(const model::Benchmark& benchmark, const std::string& name) {
    for (const model::Step& step : benchmark.steps) {
      plain_[step.name] = parameter(benchmark, step, name);
      if (const std::string suffix = "_" + step.name; name.ends_with(suffix))
        suffixed_[step.name] =
            parameter(benchmark, step, name.substr(0, name.size() - suffix.size()));
    }
  }

  Cell of_head(const Workpackage& workpackage) {
    return plain_[workpackage.step].cell(workpackage);
  }
  Cell of_ancestor(const Workpackage& workpackage) {
    const auto found = suffixed_.find(workpackage.step);
    return found == suffixed_.end() ? Cell{} : found->second.cell(workpackage);
  }

 private:
  static ParameterOfStep parameter(const model::Benchmark& benchmark, const model::Step& step,
                                   const std::string& name) {
    const auto* definition = space::definition_of(benchmark, step, name);
    return {.name = name, .type = definition ? definition->type : ValueType::string};
  }

  std::map<std::string, ParameterOfStep> plain_;
  std::map<std::string, ParameterOfStep> suffixed_;
};

Rows::Rows(const space::Run& run, const space::Lineage& family, const std::string& analyser,
           const Analyses& analyses)
    : run_(run),
      family_(family),
      analyser_(analyser),
      reduce_(run.benchmark.analyser(analyser)->reduce),
      values_(run.benchmark, family, *run.benchmark.analyser(analyser), analyses),
      benchmark_variables_(space::benchmark_variables(run)) {
  for (const std::string& set : run.benchmark.analyser(analyser)->pattern_sets())
    for (const model::Pattern& pattern : run.benchmark.pattern_set(set)->patterns)
      (pattern.derived ? derived_ : patterns_).insert(pattern.name);
  for (const Finding& finding : analyses.at(analyser))
    findings_[finding.name].push_back(&finding);
  for (auto& [name, found] : findings_)
    if (!std::ranges::is_sorted(found, {}, &Finding::workpackage))
      std::ranges::stable_sort(found, {}, &Finding::workpackage);
  if (const auto* const each = findings_of_each(*run.benchmark.analyser(analyser), analyses))
    for (const Finding& finding : *each)
      if (const energy::Figure* const figure = energy::figure_of(finding.name);
          figure && !figure->remark.empty() && finding.value)
        remarked_.emplace(finding.name, finding.workpackage);
  find_heads();
  sources_.reserve(heads_.size());
  for (std::size_t row = 0; row < heads_.size(); ++row)
    sources_.push_back(source_of(row));
}

void Rows::find_heads() {
  std::set<std::string> steps;
  for (const model::Analysis& analysis : run_.benchmark.analyser(analyser_)->analyses)
    steps.insert(analysis.step);
  std::vector<bool> is_row(family_.size());
  std::vector<bool> has_descendant(family_.size());
  for (std::size_t k = 0; k < family_.size(); ++k) {
    if (!steps.contains(family_.at(k).step))
      continue;
    is_row[standing_for(k)] = true;
    const auto line = family_.lineage(k);
    for (std::size_t ancestor = 1; ancestor < line.size(); ++ancestor)
      has_descendant[standing_for(line[ancestor])] = true;
  }
  for (std::size_t k = 0; k < family_.size(); ++k)
    if (is_row[k] && !has_descendant[k])
      heads_.push_back(family_.lineage(k));
}

const std::vector<Cell>& Rows::column(const std::string& name) {
  const auto [known, is_new] = columns_.try_emplace(name);
  std::vector<Cell>& cells = known->second;
  if (!is_new)
    return cells;
  cells.reserve(heads_.size());
  NameInSteps meaning(run_.benchmark, name);
  for (std::size_t row = 0; row < heads_.size(); ++row)
    cells.push_back(cell(row, name, meaning));
  return cells;
}

Cell Rows::cell(std::size_t row, const std::string& name, NameInSteps& meaning) const {
  const Workpackage& head = family_.at(heads_[row].front());
  for (const std::size_t position : heads_[row])
    if (const Finding* one = finding_at(name, position))
      if (one->value || !(is_pattern(name) || lacks_match(*one, position)))
        return values_.cell(*one, standing_for(position));
  if (Cell of_head = meaning.of_head(head); of_head.value)
    return of_head;
  for (const std::size_t position : heads_[row])
    if (Cell of_ancestor = meaning.of_ancestor(family_.at(position)); of_ancestor.value)
      return of_ancestor;
  if (name.starts_with("jube_"))
    return variable(row, name);
  return {.absent_reason = no_match(row, name)};
}

std::string Rows::no_match(std::size_t row, const std::string& name) const {
  const std::string base(numbers::without_suffix(name));
  for (const std::string& pattern : {name, base}) {
    if (!is_pattern(pattern) && !derived_.contains(pattern))
      continue;
    for (const std::size_t position : heads_[row])
      if (const Finding* const found = finding_at(pattern, position); found && !found->value)
        return found->absent_reason;
  }
  return "";
}

const Finding* Rows::finding_at(const std::string& name, std::size_t position) const {
  const auto found = findings_.find(name);
  if (found == findings_.end())
    return nullptr;
  const long long id = family_.at(standing_for(position)).id;
  const auto at = std::ranges::lower_bound(found->second, id, {}, &Finding::workpackage);
  return at != found->second.end() && (*at)->workpackage == id ? *at : nullptr;
}

bool Rows::lacks_match(const Finding& finding, std::size_t position) const {
  return derived_.contains(finding.name) &&
         std::ranges::any_of(patterns_, [&](const std::string& pattern) {
           const Finding* const found = finding_at(pattern, position);
           return found && !found->value && found->absent_reason == finding.absent_reason;
         });
}

void Rows::add_remarks(std::size_t position, RowSource& source) const {
  for (const energy::Figure& figure : energy::remarks()) {
    const Finding* const found = finding_at(std::string(figure.name), position);
    if (!found || !found->value)
      continue;
    std::vector<long long> ids;
    for (const std::size_t iteration : iterations_of(position))
      if (const long long id = family_.at(iteration).id;
          remarked_.empty() || remarked_.contains({found->name, id}))
        ids.push_back(id);
    source.remarks.push_back({.what = std::string(figure.remark),
                              .workpackages = std::move(ids),
                              .reason = to_text(*found->value)});
  }
}

bool Rows::is_pattern(std::string_view name) const {
  return patterns_.contains(name) || patterns_.contains(numbers::without_suffix(name));
}

const std::string* Rows::parameter_of(std::size_t iteration, const std::string& name) const {
  if (const auto* value = workspace::value_of(family_.at(iteration).parameters, name))
    return value;
  for (const model::Step& step : run_.benchmark.steps)
    if (const std::string suffix = "_" + step.name; name.ends_with(suffix))
      for (const std::size_t position : family_.lineage(iteration))
        if (const Workpackage& one = family_.at(position); one.step == step.name)
          if (const auto* value =
                  workspace::value_of(one.parameters, name.substr(0, name.size() - suffix.size())))
            return value;
  return nullptr;
}

std::optional<Remark> Rows::differing(std::size_t row, const std::string& name) const {
  const std::vector<std::size_t> iterations = iterations_of(heads_[row].front());
  const std::string* first =
      iterations.size() < 2 || is_pattern(name) ? nullptr : parameter_of(iterations.front(), name);
  if (!first)
    return std::nullopt;
  Remark remark{.what = name + " differs between the iterations",
                .reason = "the value of the first is shown"};
  for (const std::size_t iteration : iterations)
    if (const auto* value = parameter_of(iteration, name); !value || *value != *first)
      remark.workpackages.push_back(family_.at(iteration).id);
  return remark.workpackages.empty() ? std::nullopt : std::optional(std::move(remark));
}

std::vector<Remark> Rows::remarks(std::size_t row, const std::vector<std::string>& names) const {
  std::vector<Remark> remarks;
  // All are about iterations. `result` of 100,000 rows takes 5 % less without looking for them.
  const auto is_alone = [&](std::size_t position) {
    return family_.siblings(standing_for(position)).size() < 2;
  };
  if (!reduce_ || std::ranges::all_of(heads_[row], is_alone))
    return remarks;
  const auto add = [&](std::optional<Remark> remark) {
    if (remark && std::ranges::find(remarks, remark->what, &Remark::what) == remarks.end())
      remarks.push_back(std::move(*remark));
    return remark.has_value();
  };
  for (const std::string& name : names) {
    if (values_.is_of_whole_row(name))
      continue;
    add(differing(row, name));
    for (const std::size_t position : heads_[row])
      if (add(values_.lacking(name, standing_for(position))))
        break;
    for (const std::size_t position : heads_[row])
      if (finding_at(name, position)) {  // the cell is of this one
        add(values_.several(name, standing_for(position)));
        break;
      }
  }
  return remarks;
}

std::string Rows::why_unknown(std::size_t row, const std::string& name) const {
  const std::string& step = family_.at(heads_[row].front()).step;
  if (is_pattern(name))
    return fmt::format("no file of step {} is searched", step);
  return fmt::format("step {} has no such value", step);
}

space::Variables Rows::variables(std::size_t position) const {
  const Workpackage& workpackage = family_.at(position);
  space::Variables known = benchmark_variables_;
  space::add_step_variables(*run_.benchmark.step(workpackage.step), known);
  space::add_workpackage_variables(run_, workpackage, family_.parents(position), known,
                                   workpackage.progress.cycle);
  std::vector<State> states;
  for (const std::size_t iteration : iterations_of(position))
    states.push_back(family_.at(iteration).state);
  known["jube_wp_status"] = status_word(states);
  return known;
}

Cell Rows::variable(std::size_t row, const std::string& name) const {
  if (name == "jube_res_analyser")
    return {.value = analyser_};
  if (const auto found = benchmark_variables_.find(name); found != benchmark_variables_.end())
    return {.value = variable_value(name, found->second)};
  for (const std::size_t position : heads_[row]) {
    const std::string suffix = "_" + family_.at(position).step;
    const bool head = position == heads_[row].front();
    const bool suffixed = name.ends_with(suffix);
    if (!head && !suffixed)
      continue;
    const space::Variables known = variables(position);
    if (const auto found = known.find(name); head && found != known.end())
      return {.value = variable_value(name, found->second)};
    const std::string base = suffixed ? name.substr(0, name.size() - suffix.size()) : "";
    if (const auto found = known.find(base); found != known.end())
      return {.value = variable_value(base, found->second)};
  }
  return {};
}

std::vector<std::size_t> Rows::iterations_of(std::size_t position) const {
  return reduce_ ? family_.siblings(standing_for(position)) : std::vector<std::size_t>{position};
}

RowSource Rows::source_of(std::size_t row) const {
  RowSource source;
  for (const std::size_t position : heads_[row]) {
    const bool is_head = position == heads_[row].front();
    const auto iterations = iterations_of(position);
    add_remarks(position, source);
    std::size_t done = 0;
    for (const std::size_t iteration : iterations) {
      const Workpackage& one = family_.at(iteration);
      done += one.state == State::done ? 1 : 0;
      if (one.state != State::done)
        source.not_done.push_back({.workpackage = one.id,
                                   .failed = one.state == State::failed,
                                   .reason = one.reason,
                                   .skipped = one.state == State::skipped});
    }
    if (is_head) {
      source.iterations = iterations.size();
      source.done = done;
    }
  }
  return source;
}

}  // namespace bench::results
