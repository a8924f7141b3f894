#include "levels.hpp"

#include <algorithm>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/expand/expand.hpp>

namespace bench::expand {
namespace {

using evaluate::Lookup;

bool same_definition(const model::Parameter& a, const model::Parameter& b) {
  return a.text == b.text && a.values == b.values;
}

/// The parameters of the sets that a step uses.
std::vector<const model::Parameter*> own_parameters(const model::Benchmark& benchmark,
                                                    const model::Step& step) {
  std::vector<const model::Parameter*> own;
  for (const std::string& set : step.use)
    for (const model::Parameter& parameter : benchmark.parameter_set(set)->parameters) {
      const auto earlier = std::find_if(
          own.begin(), own.end(), [&](const auto* other) { return other->name == parameter.name; });
      if (earlier == own.end())
        own.push_back(&parameter);
      else if (!same_definition(**earlier, parameter))
        throw Error(fmt::format("step '{}' uses two sets that define '{}' differently", step.name,
                                parameter.name),
                    fmt::format("the other definition stands in line {}", (*earlier)->place.line),
                    parameter.place);
    }
  return own;
}

Slot open_slot(const model::Parameter& parameter) {
  Slot slot{.definition = &parameter, .text = parameter.text, .pieces = parameter.values};
  if (!parameter.values.empty()) {
    slot.splits = false;  // the list's items are taken as they are
    slot.progress = Progress::choice;
  } else if (parameter.mode == evaluate::Mode::text) {
    split_into_pieces(slot);
  }
  return slot;
}

/// The starting point of one origin. Returns the name of an inherited parameter that the step
/// defines differently, or an empty string.
std::string make_draft(const std::vector<const model::Parameter*>& own, const Origin& origin,
                       Draft& draft) {
  std::vector<const Assignment*> left;
  for (const Assignment& inherited : origin.inherited)
    left.push_back(&inherited);
  for (const model::Parameter* parameter : own) {
    const auto parent = std::find_if(left.begin(), left.end(), [&](const Assignment* inherited) {
      return inherited->definition->name == parameter->name;
    });
    if (parent == left.end()) {
      draft.slots.push_back(open_slot(*parameter));
      continue;
    }
    if (!same_definition(*parameter, *(*parent)->definition))
      return parameter->name;
    draft.slots.push_back(
        {.definition = parameter, .progress = Progress::constant, .text = (*parent)->value});
    left.erase(parent);
  }
  for (const Assignment* inherited : left)
    draft.slots.push_back({.definition = inherited->definition,
                           .progress = Progress::constant,
                           .text = inherited->value});
  return "";
}

void check_type(const model::Parameter& parameter, const std::string& value) {
  if (parameter.type == ValueType::string ||
      !std::holds_alternative<std::string>(to_value(value, ValueType::real)))
    return;
  throw Error(fmt::format("parameter '{}' is no {}: '{}'", parameter.name,
                          parameter.type == ValueType::integer ? "int" : "float", value),
              "", parameter.place);
}

Combination to_combination(Draft&& draft) {
  Combination combination{.origin = draft.origin, .assignments = {}};
  combination.assignments.reserve(draft.slots.size());
  for (Slot& slot : draft.slots) {
    const bool late = slot.progress == Progress::late;
    if (!late)
      check_type(*slot.definition, slot.text);
    combination.assignments.push_back({slot.definition, std::move(slot.text), late});
  }
  return combination;
}

Lookup lookup_in(const Combination& combination, const Lookup& constants) {
  return [&](std::string_view name) -> const std::string* {
    const std::string* internal = constants(name);
    return internal ? internal : combination.find(name);
  };
}

/// Removes the combinations for which `expression` is false; returns how many.
std::size_t drop(std::vector<Combination>& combinations, const std::string& expression,
                 const char* what, const model::Step& step, const Lookup& constants,
                 evaluate::Evaluator& evaluator) {
  if (expression.empty() || expression == "true")
    return 0;
  std::vector<std::string> texts;
  texts.reserve(combinations.size());
  for (const Combination& combination : combinations)
    texts.push_back(evaluate::substitute(expression, lookup_in(combination, constants)));
  const auto outcomes = evaluator.evaluate_truth(texts);
  std::vector<Combination> kept;
  for (std::size_t k = 0; k < combinations.size(); ++k) {
    if (!outcomes[k].ok)
      throw Error(
          fmt::format("step '{}': {} is no expression: {}", step.name, what, outcomes[k].error),
          fmt::format("evaluated was: {}", texts[k]), step.place);
    if (outcomes[k].value == "True")
      kept.push_back(std::move(combinations[k]));
  }
  const std::size_t dropped = combinations.size() - kept.size();
  combinations = std::move(kept);
  return dropped;
}

}  // namespace

const std::string* Combination::find(std::string_view name) const {
  for (const Assignment& assignment : assignments)
    if (assignment.definition->name == name)
      return assignment.late ? nullptr : &assignment.value;
  return nullptr;
}

const model::Parameter* definition_of(const model::Benchmark& benchmark, const model::Step& step,
                                      const std::string& name) {
  for (const std::string& set : step.use)
    for (const model::Parameter& parameter : benchmark.parameter_set(set)->parameters)
      if (parameter.name == name)
        return &parameter;
  for (const std::string& parent : step.depend)
    if (const auto* found = definition_of(benchmark, *benchmark.step(parent), name))
      return found;
  return nullptr;
}

Expansion expand(const model::Benchmark& benchmark, const model::Step& step,
                 const std::vector<Origin>& origins, const Lookup& constants,
                 evaluate::Evaluator& evaluator, const Limits& limits) {
  Expansion expansion;
  const auto own = own_parameters(benchmark, step);
  std::vector<Draft> drafts;
  for (std::size_t k = 0; k < origins.size(); ++k) {
    Draft draft{.origin = k, .slots = {}};
    const std::string conflict = make_draft(own, origins[k], draft);
    if (conflict.empty())
      drafts.push_back(std::move(draft));
    else if (expansion.conflicts++ == 0)
      expansion.conflicting_parameter = conflict;
  }
  const auto has_choice = [](const Draft& draft) {
    return std::any_of(draft.slots.begin(), draft.slots.end(),
                       [](const Slot& slot) { return slot.progress == Progress::choice; });
  };
  do {
    drafts = multiply(std::move(drafts), limits, step);
    settle(
        drafts, [&](const Draft&) -> const Lookup& { return constants; }, evaluator);
  } while (std::any_of(drafts.begin(), drafts.end(), has_choice));

  for (Draft& draft : drafts)
    expansion.combinations.push_back(to_combination(std::move(draft)));
  expansion.dropped_by_where =
      drop(expansion.combinations, step.where, "where", step, constants, evaluator);
  expansion.dropped_by_active =
      drop(expansion.combinations, step.active, "active", step, constants, evaluator);
  return expansion;
}

void resolve_late(const std::vector<Combination*>& combinations,
                  const std::vector<Lookup>& variables, evaluate::Evaluator& evaluator) {
  std::vector<Draft> drafts;  // their `origin` is the index into `combinations`
  for (std::size_t k = 0; k < combinations.size(); ++k) {
    const auto& assignments = combinations[k]->assignments;
    if (std::none_of(assignments.begin(), assignments.end(), [](const auto& a) { return a.late; }))
      continue;
    Draft& draft = drafts.emplace_back(Draft{.origin = k, .slots = {}});
    for (const Assignment& assignment : assignments)
      // Nothing splits any more: the workpackage exists and cannot be multiplied.
      draft.slots.push_back({.definition = assignment.definition,
                             .progress = assignment.late ? Progress::open : Progress::constant,
                             .splits = false,
                             .text = assignment.value});
  }
  settle(
      drafts, [&](const Draft& draft) -> const Lookup& { return variables[draft.origin]; },
      evaluator);
  for (Draft& draft : drafts) {
    Combination& combination = *combinations[draft.origin];
    const std::size_t origin = combination.origin;
    combination = to_combination(std::move(draft));
    combination.origin = origin;
    // A variable that does not exist stays as text, for the shell.
    for (Assignment& assignment : combination.assignments)
      assignment.late = false;
  }
}

}  // namespace bench::expand
