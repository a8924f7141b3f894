#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/program/command_line.hpp>

namespace bench::energy {
namespace {

constexpr std::size_t line_columns = 80;
constexpr std::size_t help_column = 28;

}  // namespace

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
    throw Error(fmt::format("{} is given twice", option.name));
  if (option.arity == Arity::none) {
    if (attached)
      throw Error(fmt::format("{} takes no value", option.name));
    given_.push_back({&option, ""});
    return;
  }
  // Another option in place of the value is not meant as one.
  if (!attached && (!next || next->starts_with("--")))
    throw Error(fmt::format("{} needs a value", option.name),
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

std::string left_of(const OptionRow& row) {
  std::string text = row.name;
  if (row.arity != Arity::none)
    text += std::string(" ") + row.value;
  if (row.arity == Arity::repeated || row.arity == Arity::words)
    text += " ...";
  if (*row.preset != '\0')
    text += std::string("=") + row.preset;
  return text;
}

std::string help_of(const std::string& heading, std::span<const OptionRow> rows) {
  std::string text = heading + ":\n";
  for (const OptionRow& row : rows) {
    std::string line = "  " + left_of(row);
    if (line.size() + 2 > help_column) {
      text += line + "\n";
      line.clear();
    }
    line.resize(help_column, ' ');
    for (const std::string& word : split_names(row.help, " ")) {
      if (line.size() + 1 + word.size() > line_columns) {
        text += line + "\n";
        line.assign(help_column, ' ');
      }
      line += (line.size() == help_column ? "" : " ") + word;
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace bench::energy
