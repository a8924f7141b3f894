#include "partial_combination.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
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

}  // namespace bench::space
