#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/help.hpp>
#include <bench/energy/program/command_line.hpp>

namespace bench::energy {

CommandLine::CommandLine(std::span<const OptionRow> table,
                         const std::vector<std::string>& arguments, Operands operands)
    : table_(table) {
  const OptionRow* open = nullptr;  // what takes the words behind it
  for (auto word = arguments.begin(); word != arguments.end(); ++word) {
    const bool is_operand = !word->starts_with("-") || *word == "-";
    if (is_operand && open) {
      given_.push_back({open, *word});
    } else if (is_operand && operands == Operands::anywhere) {
      operands_.push_back(*word);
    } else if (is_operand || *word == "--") {
      operands_.insert(operands_.end(), is_operand ? word : word + 1, arguments.end());
      return;
    } else if (*word == "--help" || *word == "-h") {
      wants_help_ = true;
      return;
    } else if (const OptionRow* const row = row_of(word->substr(0, word->find('=')))) {
      const bool apart = row->arity != Arity::none && *word == row->name;
      const std::string* const next = apart && word + 1 != arguments.end() ? &word[1] : nullptr;
      take(*row, *word, next);
      word += next ? 1 : 0;
      open = row->arity == Arity::words ? row : nullptr;
    } else {
      unknown_ = *word;
      return;
    }
  }
}

const OptionRow* CommandLine::row_of(std::string_view name) const {
  const auto found =
      std::ranges::find_if(table_, [&](const OptionRow& row) { return row.name == name; });
  return found == table_.end() ? nullptr : &*found;
}

void CommandLine::take(const OptionRow& option, const std::string& word, const std::string* next) {
  const auto equals = word.find('=');
  const bool attached = equals != std::string::npos;
  if (option.arity == Arity::one && has(option.name))
    throw Error(Id::usage, fmt::format("{} is given twice", option.name));
  if (option.arity == Arity::none) {
    if (attached)
      throw Error(Id::usage, fmt::format("{} takes no value", option.name));
    given_.push_back({&option, ""});
    return;
  }
  // Another option in place of the value is not meant as one.
  if (!attached && (!next || next->starts_with("--")))
    throw Error(Id::usage, fmt::format("{} needs a value", option.name),
                fmt::format("{} {}", option.name, option.value));
  given_.push_back({&option, attached ? word.substr(equals + 1) : *next});
}

bool CommandLine::has(std::string_view name) const {
  return std::ranges::any_of(given_, [&](const Given& one) { return one.option->name == name; });
}

std::vector<std::string> CommandLine::values(std::string_view name) const {
  std::vector<std::string> found;
  for (const Given& one : given_)
    if (one.option->name == name)
      found.push_back(one.value);
  return found;
}

std::string CommandLine::value(std::string_view name) const {
  for (const Given& one : given_)
    if (one.option->name == name)
      return one.value;
  return row_of(name)->preset;
}

std::vector<Help::Row> rows_of(std::span<const OptionRow> options) {
  std::vector<Help::Row> rows;
  for (const OptionRow& option : options) {
    Help::Row& row = rows.emplace_back(Help::Row{option.name, option.help});
    if (option.arity != Arity::none)
      row.left += std::string(" ") + option.value;
    if (option.arity == Arity::repeated || option.arity == Arity::words)
      row.left += " ...";
    if (*option.preset != '\0')
      row.left += std::string("=") + option.preset;
  }
  return rows;
}

}  // namespace bench::energy
