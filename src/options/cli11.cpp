#include "options/cli11.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

#include <bench/base/help.hpp>
#include <bench/base/text.hpp>

namespace bench::options {

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames())
    names.push_back("-" + name);
  for (const std::string& name : option.get_lnames())
    names.push_back("--" + name);
  return names;
}

std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  const auto brace = name.find(":{");
  return brace == std::string::npos || !name.ends_with("}")
             ? std::vector<std::string>()
             : CLI::detail::split(name.substr(brace + 2, name.size() - brace - 3), ',');
}

namespace {

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

/// The name of a value, without the range that CLI11 adds to it: `INT` of `INT:INT in [1 - 16]`.
std::string_view type_of(std::string_view name) {
  return name.substr(0, name.find(':'));
}

/// The values that an option takes: `a, b`, `above 0`, `1 to 16`. Empty if it takes any, or if its
/// text names them.
std::string range_of(const CLI::Option& option) {
  const std::string& text = option.get_description();
  const std::vector<std::string> values = values_of(option);
  if (!values.empty()) {
    const bool has_all = std::ranges::all_of(
        values, [&](const std::string& value) { return text.find(value) != std::string::npos; });
    return has_all ? "" : joined(values, ", ");
  }
  const std::string name = option.get_type_name();
  const auto colon = name.find(':');
  if (colon == std::string::npos)
    return "";
  const std::string_view words = std::string_view(name).substr(colon + 1);
  if (words == "POSITIVE")
    return "above 0";
  if (words == "NONNEGATIVE")
    return "0 or more";
  constexpr std::string_view range = "in [";
  const auto begin = words.find(range);
  const auto middle = words.find(" - ", begin);
  if (begin == std::string_view::npos || middle == std::string_view::npos || !words.ends_with("]"))
    return std::string(words);
  const std::string_view least = words.substr(begin + range.size(), middle - begin - range.size());
  std::string_view most = words.substr(middle + 3);
  most.remove_suffix(1);
  constexpr std::size_t as_good_as_none = 10;  // digits
  return most.size() >= as_good_as_none ? fmt::format("{} or more", least)
                                        : fmt::format("{} to {}", least, most);
}

/// The options of the command that are among these, in the order of the command.
std::string names_among(const CLI::App& command, const std::set<CLI::Option*>& some) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    if (some.contains(const_cast<CLI::Option*>(option)))
      names.push_back(option->get_name());
  return joined(names, ", ");
}

/// Added to the text of an option: `required; 1 or more; not with --epochs`.
std::string remarks_on(const CLI::App& command, const CLI::Option& option) {
  std::vector<std::string> remarks;
  if (option.get_required() && !option.get_positional())
    remarks.emplace_back("required");
  if (std::string range = range_of(option); takes_value(option) && !range.empty())
    remarks.push_back(std::move(range));
  if (const auto& others = option.get_needs(); !others.empty())
    remarks.push_back("only with " + names_among(command, others));
  // An option for another kind of call excludes many, and each of them says so.
  constexpr std::size_t few = 4;
  if (const auto& others = option.get_excludes(); !others.empty() && others.size() <= few)
    remarks.push_back("not with " + names_among(command, others));
  return joined(remarks, "; ");
}

/// `-i, --id ID ...`, its text and its remarks.
Help::Row row_of(const CLI::App& command, const CLI::Option& option) {
  const std::string type(type_of(option.get_type_name()));
  std::string left = option.get_positional() ? option.get_name() : joined(names_of(option), ", ");
  static const std::set<std::string> plain{"TEXT", "INT", "UINT", "FLOAT"};
  if (takes_value(option) && !type.empty() && !(option.get_positional() && plain.contains(type)))
    left += " " + type;
  if (takes_value(option) && option.get_expected_max() > 1 && !left.ends_with("]"))
    left += " ...";
  if (takes_value(option) && !option.get_default_str().empty())
    left += "=" + option.get_default_str();
  const std::string remarks = remarks_on(command, option);
  std::string text = option.get_description();
  if (!remarks.empty())
    text += fmt::format("{}({})", text.empty() ? "" : " ", remarks);
  return {std::move(left), std::move(text)};
}

void add_rows(const CLI::App& command, bool positional, Help& help) {
  for (const std::string& group : command.get_groups()) {
    Help::Section section{.heading = positional ? "Arguments" : group};
    for (const CLI::Option* option : command.get_options())
      if (!group.empty() && option->get_group() == group && option->get_positional() == positional)
        section.rows.push_back(row_of(command, *option));
    if (!section.rows.empty())
      help.sections.push_back(std::move(section));
  }
}

void add_commands(const CLI::App& command, Help& help) {
  for (const CLI::App* one : command.get_subcommands({})) {
    const std::string heading =
        command.get_parent() || one->get_group() == "Subcommands" ? "Commands" : one->get_group();
    auto section = std::ranges::find(help.sections, heading, &Help::Section::heading);
    if (section == help.sections.end())
      section = help.sections.insert(section, {.heading = heading});
    section->rows.push_back({one->get_name(), one->get_description()});
  }
}

/// The first long option that neither the command nor one above it has; empty: none.
std::string unknown_option(const std::vector<std::string>& known,
                           std::span<const std::string> arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--")
      break;
    const std::string word = argument.substr(0, argument.find('='));
    if (word.starts_with("--") && std::ranges::find(known, word) == known.end())
      return word;
  }
  return "";
}

/// The words of the parser. For an unknown value the hint suggests a known one.
Refusal refusal_of(const CLI::ParseError& error) {
  const std::string text = error.what();
  // The end of a range that has none is the largest number, with 309 digits.
  constexpr std::size_t longest_range = 100;
  if (const auto range = text.find(" not in range ");
      range != std::string::npos && text.size() - range > longest_range)
    return {text.substr(0, range) + " is too small", ""};
  constexpr std::string_view behind_value = " not in {";
  const auto end = text.find(behind_value);
  const auto begin = text.find(": ");
  if (begin == std::string::npos || end == std::string::npos || !text.ends_with("}"))
    return {text, ""};
  const std::string value = text.substr(begin + 2, end - begin - 2);
  const std::string known = text.substr(end + behind_value.size());
  return {fmt::format("{}: unknown value '{}'", text.substr(0, begin), value),
          suggestion(value, CLI::detail::split(known.substr(0, known.size() - 1), ','))};
}

}  // namespace

Help help_of(const CLI::App& command, const std::string& call) {
  Help help{.name = command.get_parent() ? command.get_name() : "",
            .description = command.get_description(),
            .usage = call + " [OPTIONS]",
            .sections = {}};
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional() && !option->get_group().empty()) {
      const std::string name = option->get_name() + (option->get_expected_max() > 1 ? "..." : "");
      help.usage += option->get_required() ? " " + name : " [" + name + "]";
    }
  if (!command.get_subcommands({}).empty())
    help.usage += command.get_require_subcommand_min() == 0 ? " [COMMAND]" : " COMMAND";
  add_rows(command, true, help);
  add_rows(command, false, help);
  add_commands(command, help);
  if (const std::string footer = command.get_footer(); !footer.empty())
    help.sections.push_back(
        {.heading = command.get_parent() ? "Example" : "", .rows = {}, .lines = footer});
  return help;
}

Refusal refusal_of(const CLI::App& command, const CLI::ParseError& error,
                   std::span<const std::string> arguments) {
  std::vector<std::string> known;
  const CLI::App* program = &command;
  for (const CLI::App* one = &command; one; one = one->get_parent()) {
    program = one;
    for (const CLI::Option* option : one->get_options())
      std::ranges::move(names_of(*option), std::back_inserter(known));
  }
  const bool is_too_much = dynamic_cast<const CLI::ExtrasError*>(&error);
  if (!is_too_much && !dynamic_cast<const CLI::RequiredError*>(&error))
    return refusal_of(error);
  const std::string option = unknown_option(known, arguments);
  std::vector<std::string> commands;
  for (const CLI::App* one : command.get_subcommands({}))
    commands.push_back(one->get_name());
  const auto word = std::ranges::find_if_not(
      arguments, [](const std::string& text) { return text.starts_with('-'); });
  if (option.empty() && word != arguments.end() && !commands.empty() &&
      std::ranges::find(commands, *word) == commands.end())
    return {fmt::format("unknown command '{}'", *word), suggestion(*word, commands)};
  if (is_too_much && option.empty()) {
    std::vector<std::string> extras = program->remaining(true);
    std::erase(extras, "--");
    const auto end_of_options = std::ranges::find(arguments, "--");
    const auto short_option = std::ranges::find_if(extras, [&](const std::string& text) {
      return text.starts_with('-') &&
             std::find(arguments.begin(), end_of_options, text) != end_of_options;
    });
    return {short_option != extras.end() ? fmt::format("unknown option '{}'", *short_option)
                                         : fmt::format("unexpected argument '{}'", extras.front()),
            ""};
  }
  if (!option.empty())
    return {fmt::format("unknown option '{}'", option), did_you_mean(option, known)};
  return commands.empty() ? refusal_of(error) : Refusal{"a command is required", ""};
}

}  // namespace bench::options
