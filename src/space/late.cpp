#include "fixpoint.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/expand.hpp>

namespace bench::space {
namespace {

using evaluate::Lookup;
using model::UpdateMode;

bool changes_in_cycles(const model::Parameter& parameter) {
  return parameter.update_mode == UpdateMode::cycle || parameter.update_mode == UpdateMode::always;
}

Layout layout_of(const Combination& combination) {
  std::vector<const model::Parameter*> definitions;
  definitions.reserve(combination.assignments.size());
  for (const Assignment& assignment : combination.assignments)
    definitions.push_back(assignment.definition);
  return Layout(std::move(definitions));
}

bool has_layout(const Combination& combination, const Layout& layout) {
  return std::ranges::equal(combination.assignments, layout.definitions, {},
                            &Assignment::definition);
}

/// The values of a workpackage. Nothing splits any more: it exists and cannot be multiplied.
PartialCombination partial_of(const Combination& combination, std::size_t origin,
                              const Layout& layout) {
  PartialCombination partial{.origin = origin, .layout = &layout};
  partial.cells.reserve(combination.assignments.size());
  for (const Assignment& assignment : combination.assignments)
    partial.cells.push_back({.text = assignment.value,
                             .progress = assignment.late ? Progress::open : Progress::constant,
                             .splits = false});
  return partial;
}

/// @throws Error for a value that is invalid, unless those are kept
void take_values(PartialCombination& partial, Combination& combination, Invalid invalid) {
  combination.invalid = std::move(partial.invalid);
  for (std::size_t k = 0; k < partial.cells.size(); ++k) {
    Assignment& assignment = combination.assignments[k];
    if (partial.cells[k].progress != Progress::constant)
      continue;
    if (!combination.invalid)
      combination.invalid = type_error(*assignment.definition, partial.cells[k].text);
    assignment.value = std::move(partial.cells[k].text);
    assignment.late = false;
  }
  if (combination.invalid && invalid == Invalid::refused)
    throw Error(*combination.invalid);
}

/// Whether the value was chosen from a template that a script made: it is kept.
bool is_choice_of(const std::string& value, const Cell& cell, const model::Parameter& definition) {
  const std::string& separator = definition.separator;
  return cell.evaluated && !separator.empty() && cell.text.find(separator) != std::string::npos &&
         value.find(separator) == std::string::npos;
}

}  // namespace

void resolve_late(const std::vector<Combination*>& combinations,
                  const std::vector<Lookup>& variables, evaluate::Evaluator& evaluator,
                  Invalid invalid) {
  std::vector<PartialCombination> partials;  // their `origin` is the index into `combinations`
  std::deque<Layout> layouts;
  for (std::size_t k = 0; k < combinations.size(); ++k) {
    const Combination& combination = *combinations[k];
    if (combination.invalid || std::ranges::none_of(combination.assignments, &Assignment::late))
      continue;
    if (layouts.empty() || !has_layout(combination, layouts.back()))
      layouts.push_back(layout_of(combination));
    partials.push_back(partial_of(combination, k, layouts.back()));
  }
  const auto constants = [&](const PartialCombination& partial) {
    return Constants{.known = variables[partial.origin], .complete = true};
  };
  settle(partials, constants, evaluator, invalid);
  refuse_circles(partials);
  for (PartialCombination& partial : partials)
    take_values(partial, *combinations[partial.origin], invalid);
}

bool changes_in_cycles(const Combination& combination) {
  return std::ranges::any_of(combination.assignments, [](const Assignment& assignment) {
    return changes_in_cycles(*assignment.definition);
  });
}

void renew(Combination& combination, const Lookup& first, const Lookup& now,
           evaluate::Evaluator& evaluator) {
  const Layout layout = layout_of(combination);
  std::vector<PartialCombination> partials{partial_of(combination, 0, layout)};
  std::vector<Cell>& cells = partials.front().cells;
  const Lookup values = [&](std::string_view name) -> const std::string* {
    const std::string* internal = first(name);
    return internal ? internal : combination.find(name);
  };
  for (std::size_t k = 0; k < cells.size(); ++k)
    if (changes_in_cycles(*layout.definitions[k]))
      reopen(combination.assignments[k], values, cells[k]);
  settle(
      partials,
      [&](const PartialCombination&) { return Constants{.known = now, .complete = true}; },
      evaluator, Invalid::refused);
  refuse_circles(partials);
  for (std::size_t k = 0; k < cells.size(); ++k)
    if (const std::string& value = combination.assignments[k].value;
        is_choice_of(value, cells[k], *layout.definitions[k]))
      cells[k].text = value;
  take_values(partials.front(), combination, Invalid::refused);
}

}  // namespace bench::space
