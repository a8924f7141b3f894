#include "layouts.hpp"

#include "partial_combination.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/use.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/inheritance.hpp>

namespace bench::expand {

using model::Parameter;
using model::ParameterSet;

namespace {

/// The names that a value may still hold: those of its text, and of the texts behind them.
std::vector<std::string> names_behind(const Parameter& definition, const Layout& layout) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& text) {
    for (std::string& name : evaluate::names_in(text))
      if (std::ranges::find(names, name) == names.end())
        names.push_back(std::move(name));
  };
  const auto add_all = [&](const Parameter& parameter) {
    add(parameter.text);
    std::ranges::for_each(parameter.values, add);
  };
  add_all(definition);
  for (std::size_t k = 0; k < names.size(); ++k)
    if (const auto found = layout.index.find(names[k]); found != layout.index.end())
      add_all(*layout.definitions[found->second]);
  return names;
}

const Assignment& assignment_of(const Origin& origin, const Parameter& definition) {
  return *std::ranges::find(origin.inherited, &definition, &Assignment::definition);
}

/// Makes an inherited value open again where its text names what no earlier step knew and this one
/// does. Nothing else in the value is touched: its other `$` come from `$$` or from a script.
void reopen_if_completed(const PartialCombination& partial, const Layout& inherited, std::size_t k,
                         Cell& cell) {
  const Parameter& definition = *partial.layout->definitions[k];
  if (cell.text.find('$') == std::string::npos || definition.mode != evaluate::Mode::text)
    return;
  std::vector<std::string> names = names_behind(definition, *partial.layout);
  std::erase_if(names, [&](const std::string& name) {
    const bool known = name.starts_with("jube_") || partial.layout->index.contains(name) ||
                       (partial.pending && partial.pending->names.contains(name));
    return !known || inherited.index.contains(name);
  });
  std::string text = evaluate::escape_all_but(cell.text, names);
  if (evaluate::names_in(text).empty())
    return;
  cell.splits =
      definition.values.empty() && cell.text.find(definition.separator) == std::string::npos;
  cell.text = std::move(text);
  cell.progress = Progress::open;
}

}  // namespace

std::string Layouts::start(const Origin& origin, const evaluate::Lookup& constants,
                           PartialCombination& partial) {
  partial.layout = inherited_layout(origin);
  for (const Assignment& inherited : origin.inherited)
    partial.cells.push_back({.text = inherited.value, .progress = Progress::constant});
  std::string conflict = add_known(step_.use, constants, partial);
  const Layout& inherited = *inherited_layout(origin);
  for (std::size_t k = 0; k < partial.cells.size(); ++k)
    if (partial.cells[k].progress == Progress::constant)
      reopen_if_completed(partial, inherited, k, partial.cells[k]);
  const auto values = [&](std::string_view name) -> const std::string* {
    const std::string* internal = constants(name);
    const auto found = std::ranges::find(
        origin.inherited, name, [](const Assignment& one) { return one.definition->name; });
    return internal || found == origin.inherited.end() ? internal : &found->value;
  };
  // What the step evaluates again although none of its sets defines it.
  for (std::size_t k = partial.layout->own; k < partial.cells.size(); ++k)
    if (const Parameter& definition = *partial.layout->definitions[k];
        is_reevaluated(definition, nullptr)) {
      Cell begin = open_cell(definition);
      // A template of `always` keeps the value that the cycles of the parent have kept.
      if (definition.update_mode == model::UpdateMode::always && begin.progress == Progress::choice)
        reopen(assignment_of(origin, definition), values, partial.cells[k]);
      else
        partial.cells[k] = std::move(begin);
    }
  return conflict;
}

std::string Layouts::take_known_sets(const evaluate::Lookup& constants,
                                     PartialCombination& partial) {
  const Pending* before = partial.pending;
  std::string conflict = add_known(before->uses, constants, partial);
  if (partial.pending == before)
    partial.pending = nullptr;
  return conflict;
}

/// Adds the sets of `uses` whose names are known; the others are pending.
std::string Layouts::add_known(const std::vector<std::string>& uses,
                               const evaluate::Lookup& constants, PartialCombination& partial) {
  std::vector<std::string> unknown;
  for (const std::string& use : uses) {
    Unresolved unresolved;
    const std::string name = substitute_in(partial, use, {.known = constants}, unresolved);
    if (model::depends_on_parameters(name)) {
      unknown.push_back(use);
      continue;
    }
    if (const ParameterSet* set = benchmark_.parameter_set(name))
      if (std::string conflict = add(*set, partial); !conflict.empty())
        return conflict;
  }
  partial.pending = unknown.empty() ? nullptr : pending(unknown);
  return "";
}

const Layout* Layouts::inherited_layout(const Origin& origin) {
  std::vector<const Parameter*> definitions;
  definitions.reserve(origin.inherited.size());
  for (const Assignment& inherited : origin.inherited)
    definitions.push_back(inherited.definition);
  const Layout*& layout = inherited_[definitions];
  if (!layout)
    layout = &layouts_.emplace_back(std::move(definitions));
  return layout;
}

const Layouts::Extension& Layouts::extension(const Layout* layout, const ParameterSet& set) {
  const auto [found, is_new] = extensions_.try_emplace({layout, &set});
  if (is_new)
    found->second = make_extension(*layout, set);
  return found->second;
}

Layouts::Extension Layouts::make_extension(const Layout& layout, const ParameterSet& set) {
  std::vector<const Parameter*> own(
      layout.definitions.begin(),
      layout.definitions.begin() + static_cast<std::ptrdiff_t>(layout.own));
  std::vector<std::size_t> sources;
  for (std::size_t k = 0; k < layout.own; ++k)
    sources.push_back(k);
  std::vector<bool> taken(layout.definitions.size(), false);
  for (const Parameter& parameter : set.parameters) {
    const auto known = layout.index.find(parameter.name);
    const bool is_known = known != layout.index.end();
    if (is_known && known->second < layout.own) {
      refuse_difference(*layout.definitions[known->second], parameter);
      continue;
    }
    std::size_t source = Extension::new_cell;
    if (is_known) {
      const Parameter& inherited = *layout.definitions[known->second];
      taken[known->second] = true;
      if (!is_reevaluated(inherited, &parameter)) {
        if (!equivalent(inherited, parameter))
          return {.layout = nullptr, .sources = {}, .conflict = parameter.name};
        source = known->second;
      }
    }
    own.push_back(&parameter);
    sources.push_back(source);
  }
  const std::size_t own_count = own.size();
  for (std::size_t k = layout.own; k < layout.definitions.size(); ++k)
    if (!taken[k]) {
      own.push_back(layout.definitions[k]);
      sources.push_back(k);
    }
  return {.layout = &layouts_.emplace_back(std::move(own), own_count),
          .sources = std::move(sources),
          .conflict = ""};
}

std::string Layouts::add(const ParameterSet& set, PartialCombination& partial) {
  const Extension& extended = extension(partial.layout, set);
  if (!extended.conflict.empty())
    return extended.conflict;
  std::vector<Cell> cells;
  cells.reserve(extended.sources.size());
  for (std::size_t k = 0; k < extended.sources.size(); ++k)
    cells.push_back(extended.sources[k] == Extension::new_cell
                        ? open_cell(*extended.layout->definitions[k])
                        : std::move(partial.cells[extended.sources[k]]));
  partial.cells = std::move(cells);
  partial.layout = extended.layout;
  return "";
}

const Pending* Layouts::pending(const std::vector<std::string>& uses) {
  const auto [found, is_new] = pending_.try_emplace(uses);
  Pending& made = found->second;
  if (is_new) {
    made.uses = uses;
    for (const std::string& use : uses)
      for (const ParameterSet* set : model::possible_sets(benchmark_, use))
        for (const Parameter& parameter : set->parameters)
          made.names.insert(parameter.name);
  }
  return &made;
}

void Layouts::refuse_difference(const Parameter& one, const Parameter& other) const {
  if (!equivalent(one, other))
    throw Error(
        fmt::format("step '{}' uses two sets that define '{}' differently", step_.name, other.name),
        fmt::format("the other definition is in line {}", one.place.line), other.place);
}

}  // namespace bench::expand
