#include "rows.hpp"

#include "variables.hpp"

#include <algorithm>

#include <fmt/core.h>

#include <bench/expand/inheritance.hpp>

namespace bench::engine {

using result::Cell;
using workspace::State;
using workspace::Workpackage;

Rows::Rows(const Run& run, const std::vector<Workpackage>& all, const std::string& analyser,
           const std::vector<workspace::Finding>& findings)
    : run_(run), all_(all), analyser_(analyser), reduce_(run.benchmark.analyser(analyser)->reduce) {
  for (const model::Analysis& analysis : run.benchmark.analyser(analyser)->analyses)
    analysed_steps_.insert(analysis.step);
  for (const workspace::Finding& finding : findings)
    findings_[finding.workpackage].emplace(finding.name, finding);
  for (const Workpackage& workpackage : all_)
    siblings_[workpackage.combination].push_back(workpackage.id);
  find_heads(reduce_);
}

void Rows::find_heads(bool reduce) {
  const auto representative = [&](long long id) { return reduce ? at(id).combination : id; };
  std::set<long long> analysed;
  std::set<long long> inner;
  for (const Workpackage& workpackage : all_) {
    if (!analysed_steps_.contains(workpackage.step))
      continue;
    analysed.insert(representative(workpackage.id));
    const auto ancestors = chain(workpackage.id);
    for (std::size_t k = 1; k < ancestors.size(); ++k)
      inner.insert(representative(ancestors[k]));
  }
  std::set_difference(analysed.begin(), analysed.end(), inner.begin(), inner.end(),
                      std::back_inserter(heads_));
}

std::vector<long long> Rows::chain(long long head) const {
  std::vector<long long> chain{head};
  for (std::size_t k = 0; k < chain.size(); ++k)
    for (const long long parent : at(chain[k]).parents)
      if (std::find(chain.begin(), chain.end(), parent) == chain.end())
        chain.push_back(parent);
  return chain;
}

const workspace::Finding* Rows::finding(long long id, const std::string& name) const {
  const auto row = findings_.find(reduce_ ? at(id).combination : id);
  if (row == findings_.end())
    return nullptr;
  const auto found = row->second.find(name);
  return found == row->second.end() ? nullptr : &found->second;
}

Cell Rows::cell(long long head, const std::string& name) const {
  for (const long long id : chain(head))
    if (const workspace::Finding* found = finding(id, name))
      return {.value = found->value,
              .format = "",
              .estimated = found->estimated,
              .absent_reason = found->absent_reason};
  const Cell of_parameter = parameter(head, name);
  return of_parameter.value ? of_parameter : variable(head, name);
}

Cell Rows::parameter(long long head, const std::string& name) const {
  const auto typed = [&](const Workpackage& workpackage, const std::string& parameter_name,
                         const std::string& value) {
    const model::Step& step = *run_.benchmark.step(workpackage.step);
    const auto* definition = expand::definition_of(run_.benchmark, step, parameter_name);
    return Cell{.value = to_value(value, definition ? definition->type : ValueType::string)};
  };
  for (const auto& [known, value] : at(head).parameters)
    if (known == name)
      return typed(at(head), known, value);
  for (const long long id : chain(head))
    for (const auto& [known, value] : at(id).parameters)
      if (name == known + "_" + at(id).step)
        return typed(at(id), known, value);
  return {};
}

std::string Rows::status(long long id) const {
  switch (at(id).state) {
    case State::done:
      return "DONE";
    case State::failed:
      return "ERROR";
    default:
      return "RUNNING";
  }
}

Cell Rows::variable(long long head, const std::string& name) const {
  if (name == "jube_res_analyser")
    return {.value = analyser_};
  for (const long long id : chain(head)) {
    const Workpackage& workpackage = at(id);
    Variables known = benchmark_variables(run_);
    add_step_variables(*run_.benchmark.step(workpackage.step), known);
    add_workpackage_variables(run_, workpackage, {}, known);
    known["jube_wp_status"] = status(id);
    for (const auto& [variable_name, value] : known)
      if ((id == head && name == variable_name) || name == variable_name + "_" + workpackage.step)
        return {.value = to_value(value, ValueType::integer)};
  }
  return {};
}

std::string Rows::absence(long long head) const {
  const auto siblings = reduce_ ? siblings_.at(at(head).combination) : std::vector<long long>{head};
  for (const long long id : siblings)
    if (at(id).state == State::failed)
      return fmt::format("workpackage {} failed: {}", id, at(id).reason);
  for (const long long id : siblings)
    if (at(id).state != State::done)
      return fmt::format("workpackage {} has not ended", id);
  return "";
}

}  // namespace bench::engine
