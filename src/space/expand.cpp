#include "fixpoint.hpp"
#include "layouts.hpp"
#include "partial_combination.hpp"

#include <algorithm>
#include <cstddef>
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
#include <bench/space/expand.hpp>

namespace bench::expand {
namespace {

using evaluate::Lookup;

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
  return Error(fmt::format("step '{}': invalid expression in {}: {}", step.name, what, problem),
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

bool is_active(const model::Step& step, const Lookup& variables, evaluate::Evaluator& evaluator) {
  const std::string text = evaluate::substitute(step.active, variables);
  const evaluate::Outcome outcome = evaluator.evaluate_truth({&text, 1}).front();
  if (!outcome.ok)
    throw expression_error(outcome.error, text, "active", step);
  return outcome.value == "True";
}

}  // namespace bench::expand
