#include "fixpoint.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/expand.hpp>

namespace bench::space {
namespace {

using evaluate::Lookup;
using model::Parameter;
using model::ParameterSet;
using model::UpdateMode;

/// The names that a value may still hold: those of its text, and of the texts behind them.
std::vector<std::string> possible_names(const Parameter& definition, const Layout& layout) {
  std::vector<std::string> names = names_behind(definition);
  for (std::size_t k = 0; k < names.size(); ++k)
    if (const auto found = layout.index.find(names[k]); found != layout.index.end())
      for (std::string& name : names_behind(*layout.definitions[found->second]))
        if (std::ranges::find(names, name) == names.end())
          names.push_back(std::move(name));
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
  std::vector<std::string> names = possible_names(definition, *partial.layout);
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

/// Puts the parameters of a step's sets on top of what it inherits, and owns the layouts and
/// pending names of the partial combinations.
class Layouts {
 public:
  Layouts(const model::Benchmark& benchmark, const model::Step& step)
      : benchmark_(benchmark), step_(step) {}

  /// The beginning of the combinations of one origin.
  /// @returns the parameter that the step and the origin define differently, or an empty text
  /// @throws Error if two sets of the step define a name differently
  std::string start(const Origin& origin, const evaluate::Lookup& constants,
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
        const bool keeps = definition.update_mode == UpdateMode::always;
        if (keeps && begin.progress == Progress::choice) {
          reopen(assignment_of(origin, definition), values, partial.cells[k]);
        } else {
          if (keeps)
            begin.kept = &assignment_of(origin, definition).value;
          partial.cells[k] = std::move(begin);
        }
      }
    return conflict;
  }

  /// Adds the sets whose names have become known with the values of the combination. Names that
  /// will not become known any more are given up: they mean nothing.
  /// @returns as `start` does
  std::string take_known_sets(const evaluate::Lookup& constants, PartialCombination& partial) {
    const Pending* before = partial.pending;
    std::string conflict = add_known(before->uses, constants, partial);
    if (partial.pending == before)
      partial.pending = nullptr;
    return conflict;
  }

 private:
  /// How a partial combination gets the parameters of one more set.
  struct Extension {
    const Layout* layout = nullptr;
    static constexpr std::size_t new_cell = static_cast<std::size_t>(-1);
    std::vector<std::size_t> sources;  ///< Cell that each one is taken from, or `new_cell`.
    std::string conflict;              ///< Then nothing else.
  };

  /// Adds the sets of `uses` whose names are known; the others are pending.
  std::string add_known(const std::vector<std::string>& uses, const evaluate::Lookup& constants,
                        PartialCombination& partial) {
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

  const Layout* inherited_layout(const Origin& origin) {
    std::vector<const Parameter*> definitions;
    definitions.reserve(origin.inherited.size());
    for (const Assignment& inherited : origin.inherited)
      definitions.push_back(inherited.definition);
    const Layout*& layout = inherited_[definitions];
    if (!layout)
      layout = &layouts_.emplace_back(std::move(definitions));
    return layout;
  }

  const Extension& extension(const Layout* layout, const ParameterSet& set) {
    const auto [found, is_new] = extensions_.try_emplace({layout, &set});
    if (is_new)
      found->second = make_extension(*layout, set);
    return found->second;
  }

  Extension make_extension(const Layout& layout, const ParameterSet& set) {
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

  std::string add(const ParameterSet& set, PartialCombination& partial) {
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

  const Pending* pending(const std::vector<std::string>& uses) {
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

  void refuse_difference(const Parameter& one, const Parameter& other) const {
    if (!equivalent(one, other))
      throw Error(Id::conflict,
                  fmt::format("step '{}' uses two sets that define '{}' differently", step_.name,
                              other.name),
                  fmt::format("the other definition is in line {}", one.place.line), other.place);
  }

  const model::Benchmark& benchmark_;
  const model::Step& step_;
  std::deque<Layout> layouts_;
  std::map<std::vector<const model::Parameter*>, const Layout*> inherited_;
  std::map<std::pair<const Layout*, const model::ParameterSet*>, Extension> extensions_;
  std::map<std::vector<std::string>, Pending> pending_;
};

Combination to_combination(PartialCombination& partial, Invalid invalid) {
  Combination combination{
      .origin = partial.origin, .assignments = {}, .invalid = std::move(partial.invalid)};
  combination.assignments.reserve(partial.cells.size());
  for (std::size_t k = 0; k < partial.cells.size(); ++k) {
    Cell& cell = partial.cells[k];
    const bool late = cell.progress != Progress::constant;
    if (!late && !combination.invalid)
      combination.invalid = type_error(*partial.layout->definitions[k], cell.text);
    if (combination.invalid && invalid == Invalid::refused)
      throw Error(*combination.invalid);
    combination.assignments.push_back({partial.layout->definitions[k], std::move(cell.text), late});
  }
  partial.cells = {};
  return combination;
}

/// The partial combinations of one step, on their way to combinations.
class Expander {
 public:
  Expander(const model::Benchmark& benchmark, const model::Step& step, const Lookup& constants,
           const FixedValues& fixed, Invalid invalid)
      : step_(step),
        constants_(constants),
        fixed_(fixed),
        invalid_(invalid),
        layouts_(benchmark, step) {}

  void start(const std::vector<Origin>& origins, Expansion& expansion) {
    for (std::size_t k = 0; k < origins.size(); ++k) {
      PartialCombination partial{.origin = k};
      if (!agrees(layouts_.start(origins[k], constants_, partial), expansion))
        continue;
      fix(partial);
      partials_.push_back(std::move(partial));
    }
  }

  void grow(evaluate::Evaluator& evaluator, const Limits& limits, Expansion& expansion) {
    const auto constants = [this](const PartialCombination&) {
      return Constants{.known = constants_};
    };
    for (bool open = true; open;) {
      partials_ = multiply(std::move(partials_), limits, step_);
      settle(partials_, constants, evaluator, invalid_);
      open = std::ranges::any_of(partials_, has_choice) || take_known_sets(expansion);
    }
    refuse_circles(partials_);
  }

  std::vector<Combination> combinations() {
    std::vector<Combination> made;
    made.reserve(partials_.size());
    for (PartialCombination& partial : partials_)
      made.push_back(to_combination(partial, invalid_));
    return made;
  }

 private:
  /// Counts a conflict.
  static bool agrees(const std::string& conflict, Expansion& expansion) {
    if (!conflict.empty() && expansion.conflicts++ == 0)
      expansion.conflicting_parameter = conflict;
    return conflict.empty();
  }

  /// Returns whether there was any set to wait for.
  bool take_known_sets(Expansion& expansion) {
    const auto waits = [](const PartialCombination& partial) {
      return partial.pending && !partial.invalid;
    };
    if (std::ranges::none_of(partials_, waits))
      return false;
    std::erase_if(partials_, [&](PartialCombination& partial) {
      return waits(partial) && !agrees(layouts_.take_known_sets(constants_, partial), expansion);
    });
    std::ranges::for_each(partials_, [this](PartialCombination& partial) { fix(partial); });
    return true;
  }

  void fix(PartialCombination& partial) const {
    for (std::size_t k = 0; !fixed_.empty() && k < partial.layout->own; ++k)
      if (const auto found = fixed_.find(partial.layout->definitions[k]->name);
          found != fixed_.end())
        partial.cells[k] = {.text = found->second, .progress = Progress::constant, .splits = false};
  }

  const model::Step& step_;
  const Lookup& constants_;
  const FixedValues& fixed_;
  Invalid invalid_;
  Layouts layouts_;
  std::vector<PartialCombination> partials_;
};

Lookup lookup_in(const Combination& combination, const Lookup& constants) {
  return [&](std::string_view name) -> const std::string* {
    const std::string* internal = constants(name);
    return internal ? internal : combination.find(name);
  };
}

Error expression_error(const std::string& problem, const std::string& text, const char* what,
                       const model::Step& step) {
  return Error(Id::invalid_expression,
               fmt::format("step '{}': invalid expression in {}: {}", step.name, what, problem),
               fmt::format("evaluated expression: {}", text), step.place);
}

/// Removes the combinations for which `expression` is false; returns how many. Those that
/// `is_undecided` stay, and the invalid ones.
template <class Undecided>
std::size_t drop(std::vector<Combination>& combinations, const std::string& expression,
                 const char* what, const model::Step& step, const Lookup& constants,
                 evaluate::Evaluator& evaluator, const Undecided& is_undecided, Invalid invalid) {
  if (expression.empty() || expression == "true")
    return 0;
  std::vector<Combination> kept;
  for (std::size_t begin = 0; begin < combinations.size(); begin += chunk_size) {
    const auto chunk =
        std::span(combinations).subspan(begin, std::min(chunk_size, combinations.size() - begin));
    std::vector<std::string> texts;
    texts.reserve(chunk.size());
    for (const Combination& combination : chunk)
      texts.push_back(combination.invalid || is_undecided(combination)
                          ? "true"
                          : evaluate::substitute(expression, lookup_in(combination, constants)));
    const auto outcomes = evaluator.evaluate_truth(texts);
    for (std::size_t k = 0; k < chunk.size(); ++k) {
      if (!outcomes[k].ok) {
        Error error = expression_error(outcomes[k].error, texts[k], what, step);
        if (invalid == Invalid::refused)
          throw error;
        chunk[k].invalid = std::make_shared<const Error>(std::move(error));
      }
      if (chunk[k].invalid || outcomes[k].value == "True")
        kept.push_back(std::move(chunk[k]));
    }
  }
  const std::size_t dropped = combinations.size() - kept.size();
  combinations = std::move(kept);
  return dropped;
}

/// Whether `active` names a variable of the workpackage, or a parameter that waits for one.
bool waits_for_workpackage(const Combination& combination, const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    return name.starts_with("jube_wp_") ||
           std::ranges::any_of(combination.assignments, [&](const Assignment& assignment) {
             return assignment.late && assignment.definition->name == name;
           });
  });
}

bool changes_in_cycles(const Parameter& parameter) {
  return parameter.update_mode == UpdateMode::cycle || parameter.update_mode == UpdateMode::always;
}

Layout layout_of(const Combination& combination) {
  std::vector<const Parameter*> definitions;
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
bool is_choice_of(const std::string& value, const Cell& cell, const Parameter& definition) {
  const std::string& separator = definition.separator;
  return cell.evaluated && !separator.empty() && cell.text.find(separator) != std::string::npos &&
         value.find(separator) == std::string::npos;
}

}  // namespace

const std::string* Combination::find(std::string_view name) const {
  for (const Assignment& assignment : assignments)
    if (assignment.definition->name == name)
      return assignment.late ? nullptr : &assignment.value;
  return nullptr;
}

Expansion expand(const model::Benchmark& benchmark, const model::Step& step,
                 const std::vector<Origin>& origins, const Lookup& constants,
                 evaluate::Evaluator& evaluator, const Limits& limits, const FixedValues& fixed,
                 Invalid invalid) {
  Expansion expansion;
  Expander expander(benchmark, step, constants, fixed, invalid);
  expander.start(origins, expansion);
  expander.grow(evaluator, limits, expansion);
  expansion.combinations = expander.combinations();
  expansion.dropped_by_where = drop(
      expansion.combinations, step.where, "where", step, constants, evaluator,
      [](const Combination&) { return false; }, invalid);
  const std::vector<std::string> names = evaluate::names_in(step.active);
  for (Combination& combination : expansion.combinations)
    combination.active_is_late = !combination.invalid && waits_for_workpackage(combination, names);
  expansion.dropped_by_active = drop(
      expansion.combinations, step.active, "active", step, constants, evaluator,
      [](const Combination& combination) { return combination.active_is_late; }, invalid);
  return expansion;
}

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

bool is_active(const model::Step& step, const Lookup& variables, evaluate::Evaluator& evaluator) {
  const std::string text = evaluate::substitute(step.active, variables);
  const evaluate::Outcome outcome = evaluator.evaluate_truth({&text, 1}).front();
  if (!outcome.ok)
    throw expression_error(outcome.error, text, "active", step);
  return outcome.value == "True";
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
  const Lookup values = lookup_in(combination, first);
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
