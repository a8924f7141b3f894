#include "fixpoint.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>

namespace bench::space {

Layout::Layout(std::vector<const model::Parameter*> parameters, std::size_t own_count)
    : definitions(std::move(parameters)), own(own_count) {
  for (std::size_t k = 0; k < definitions.size(); ++k)
    index.emplace(definitions[k]->name, k);
}

Cell open_cell(const model::Parameter& parameter) {
  Cell cell{.text = parameter.text};
  if (!parameter.values.empty()) {
    cell.splits = false;  // the list's items are taken as they are
    cell.progress = Progress::choice;
  } else if (parameter.mode == evaluate::Mode::text) {
    split_if_template(parameter, cell);
  }
  return cell;
}

std::vector<std::string> pieces_of(const model::Parameter& parameter, const Cell& cell) {
  return cell.splits ? split_values(cell.text, parameter.separator) : parameter.values;
}

void split_if_template(const model::Parameter& parameter, Cell& cell) {
  if (!cell.splits || parameter.separator.empty() ||
      cell.text.find(parameter.separator) == std::string::npos)
    return;
  cell.progress = Progress::choice;
  if (!cell.kept)
    return;
  const auto pieces = pieces_of(parameter, cell);
  if (std::ranges::find(pieces, *cell.kept) != pieces.end()) {
    cell.text = *cell.kept;
    cell.progress = Progress::constant;
  }
}

void reopen(const Assignment& assignment, const evaluate::Lookup& values, Cell& cell) {
  const model::Parameter& definition = *assignment.definition;
  Cell begin = open_cell(definition);
  if (begin.progress == Progress::choice) {
    const auto pieces = pieces_of(definition, begin);
    const auto chosen = std::ranges::find(pieces, assignment.value, [&](const std::string& piece) {
      return evaluate::substitute(piece, values);
    });
    if (chosen == pieces.end())
      return;
    begin.text = *chosen;
  }
  begin.splits = false;
  begin.progress = Progress::open;
  cell = std::move(begin);
}

std::string substitute_in(const PartialCombination& partial, const std::string& text,
                          const Constants& constants, Unresolved& unresolved) {
  if (text.find('$') == std::string::npos)
    return text;
  return evaluate::substitute(text, [&](std::string_view name) -> const std::string* {
    if (name.starts_with("jube_")) {
      if (const std::string* internal = constants.known(name))
        return internal;
      if (name.starts_with("jube_wp_") && !constants.complete) {
        unresolved.late = true;
        return nullptr;
      }
    }
    const auto found = partial.layout->index.find(name);
    if (found == partial.layout->index.end()) {
      unresolved.open |= partial.pending && partial.pending->names.contains(name);
      return nullptr;
    }
    const Cell& other = partial.cells[found->second];
    unresolved.late |= other.progress == Progress::late;
    unresolved.open |= other.progress == Progress::open || other.progress == Progress::choice;
    return other.progress == Progress::constant ? &other.text : nullptr;
  });
}

std::shared_ptr<const Error> type_error(const model::Parameter& parameter,
                                        const std::string& value) {
  if (parameter.type == ValueType::string ||
      !std::holds_alternative<std::string>(to_value(value, ValueType::real)))
    return nullptr;
  return std::make_shared<const Error>(
      Id::invalid_value,
      fmt::format("value '{}' of parameter '{}' is not {}", value, parameter.name,
                  parameter.type == ValueType::integer ? "an integer" : "a number"),
      "", parameter.place);
}

namespace {

using evaluate::Mode;

/// A script text that is ready to be evaluated.
struct Script {
  PartialCombination* partial;
  Cell* cell;
  const model::Parameter* definition;
  std::string text;
};

/// Values that insert one another twice double each time.
void refuse_length(const model::Parameter& definition, const std::string& text) {
  constexpr std::size_t longest = 16 << 20;
  if (text.size() > longest)
    throw Error(Id::too_large,
                fmt::format("the value of parameter '{}' is longer than 16 MiB", definition.name),
                "put long texts into a file", definition.place);
}

/// Takes one partial combination as far as substitution gets it.
class Advance {
 public:
  Advance(PartialCombination& partial, const Constants& constants, std::vector<Script>& scripts)
      : partial_(partial), constants_(constants), scripts_(scripts) {}

  /// Substitutes until nothing moves; appends the scripts that are ready then.
  void run() {
    const std::size_t ready_before = scripts_.size();
    for (bool moved = true; moved;) {
      scripts_.resize(ready_before);
      moved = false;
      for (std::size_t k = 0; k < partial_.cells.size(); ++k)
        if (partial_.cells[k].progress == Progress::open)
          moved |= advance(*partial_.layout->definitions[k], partial_.cells[k]);
    }
  }

 private:
  /// Takes a cell as far as substitution alone gets it. Returns true if that changed anything.
  bool advance(const model::Parameter& definition, Cell& cell) {
    Unresolved unresolved;
    std::string text = substitute_in(partial_, cell.text, constants_, unresolved);
    if (unresolved.open)
      return false;
    if (unresolved.late) {
      cell.progress = Progress::late;
      return true;
    }
    if (definition.mode != Mode::text) {
      scripts_.push_back({&partial_, &cell, &definition, std::move(text)});
      return false;
    }
    refuse_length(definition, text);
    cell.text = std::move(text);
    cell.progress = Progress::constant;
    split_if_template(definition, cell);
    return true;
  }

  PartialCombination& partial_;
  const Constants& constants_;
  std::vector<Script>& scripts_;
};

std::vector<Script> substitute_all(std::span<PartialCombination> partials,
                                   const ConstantsOf& constants) {
  std::vector<Script> scripts;
  for (PartialCombination& partial : partials) {
    if (partial.invalid)
      continue;
    const Constants known = constants(partial);
    Advance(partial, known, scripts).run();
  }
  return scripts;
}

/// The error for a script that failed. Its text is shown as it was evaluated.
Error script_error(const Script& script, const std::string& problem) {
  std::string hint = fmt::format("evaluated expression: {}", script.text);
  if (script.definition->mode == Mode::python)
    if (const auto left = evaluate::names_in(script.text); !left.empty())
      hint += fmt::format("\nhint: parameter '{}' is not defined here", left.front());
  return Error(Id::invalid_expression,
               fmt::format("parameter '{}': {}", script.definition->name, problem), hint,
               script.definition->place);
}

/// @throws Error for a failing script, unless those are kept
void evaluate_all(std::vector<Script> scripts, evaluate::Evaluator& evaluator, Invalid invalid) {
  const auto fail = [&](const Script& script, const std::string& problem) {
    Error error = script_error(script, problem);
    if (invalid == Invalid::refused)
      throw error;
    if (!script.partial->invalid)
      script.partial->invalid = std::make_shared<const Error>(std::move(error));
  };
  std::vector<evaluate::Request> requests;
  requests.reserve(scripts.size());
  for (const Script& script : scripts)
    requests.push_back({script.definition->mode, script.text});
  auto outcomes = evaluator.evaluate(requests);
  for (std::size_t k = 0; k < scripts.size(); ++k) {
    Cell& cell = *scripts[k].cell;
    if (!outcomes[k].ok) {
      fail(scripts[k], outcomes[k].error);
      continue;
    }
    if (outcomes[k].value.find('\0') != std::string::npos) {
      fail(scripts[k],
           "its value has a zero byte, at which programs would end it; remove it, in a shell with "
           "`| tr -d '\\0'`");
      continue;
    }
    // The result is not substituted again: what a script returns is its own. The workspace keeps
    // UTF-8, and a value does not change by being kept.
    cell.text = to_valid_utf8(outcomes[k].value);
    cell.evaluated = true;
    cell.progress = Progress::constant;
    split_if_template(*scripts[k].definition, cell);
  }
}

std::size_t combinations_of(const PartialCombination& partial, std::size_t limit) {
  std::size_t count = 1;
  for (std::size_t k = 0; k < partial.cells.size() && !partial.invalid; ++k)
    if (partial.cells[k].progress == Progress::choice)
      count = std::min(limit + 1,
                       count * pieces_of(*partial.layout->definitions[k], partial.cells[k]).size());
  return count;
}

/// A template that is being multiplied out.
struct Choice {
  std::size_t cell;
  std::vector<std::string> pieces;
};

/// Appends every combination of `partial`'s templates, the last cell varying fastest.
void multiply_one(PartialCombination& partial, std::vector<PartialCombination>& into) {
  std::vector<Choice> choices;
  for (std::size_t k = 0; k < partial.cells.size() && !partial.invalid; ++k)
    if (Cell& cell = partial.cells[k]; cell.progress == Progress::choice) {
      choices.push_back({k, pieces_of(*partial.layout->definitions[k], cell)});
      cell.progress = cell.evaluated ? Progress::constant : Progress::open;
      cell.text.clear();
    }
  std::vector<std::size_t> chosen(choices.size(), 0);
  for (bool more = true; more;) {
    PartialCombination& combination = into.emplace_back(partial);
    for (std::size_t c = 0; c < choices.size(); ++c)
      combination.cells[choices[c].cell].text = choices[c].pieces[chosen[c]];
    more = false;
    for (std::size_t c = choices.size(); c-- > 0 && !more;) {
      more = ++chosen[c] < choices[c].pieces.size();
      if (!more)
        chosen[c] = 0;
    }
  }
}

}  // namespace

bool has_choice(const PartialCombination& partial) {
  return !partial.invalid &&
         std::ranges::any_of(
             partial.cells, [](Progress progress) { return progress == Progress::choice; },
             &Cell::progress);
}

std::vector<PartialCombination> multiply(std::vector<PartialCombination> partials,
                                         const Limits& limits, const model::Step& step) {
  std::size_t total = 0;
  for (const PartialCombination& partial : partials)
    total += combinations_of(partial, limits.combinations);
  if (total > limits.combinations)
    throw Error(
        Id::too_large,
        fmt::format("step '{}' has more than {} combinations", step.name, limits.combinations),
        "split the sweep, or raise the limit with --max-workpackages", step.place);
  if (std::ranges::none_of(partials, has_choice))
    return partials;
  std::vector<PartialCombination> multiplied;
  multiplied.reserve(total);
  for (PartialCombination& partial : partials) {
    multiply_one(partial, multiplied);
    partial.cells = {};
  }
  return multiplied;
}

void settle(std::vector<PartialCombination>& partials, const ConstantsOf& constants,
            evaluate::Evaluator& evaluator, Invalid invalid) {
  for (std::size_t begin = 0; begin < partials.size(); begin += chunk_size) {
    const auto chunk =
        std::span(partials).subspan(begin, std::min(chunk_size, partials.size() - begin));
    for (auto scripts = substitute_all(chunk, constants); !scripts.empty();
         scripts = substitute_all(chunk, constants))
      evaluate_all(std::move(scripts), evaluator, invalid);
  }
}

void refuse_circles(const std::vector<PartialCombination>& partials) {
  for (const PartialCombination& partial : partials) {
    std::vector<std::string> names;
    const model::Parameter* first = nullptr;
    if (partial.invalid)
      continue;
    for (std::size_t k = 0; k < partial.cells.size(); ++k)
      if (partial.cells[k].progress == Progress::open) {
        first = first ? first : partial.layout->definitions[k];
        names.push_back(partial.layout->definitions[k]->name);
      }
    if (first)
      throw Error(Id::circular_reference,
                  fmt::format("circular dependency of parameters: {}", join(names, ", ")),
                  "give one of them a value that does not depend on the others", first->place);
  }
}

}  // namespace bench::space
