#include "command.hpp"
#include "options/cli11.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/help.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {
namespace {

bool is_input_file(const std::filesystem::path& path) {
  std::error_code absent;
  const std::string ending = path.extension().string();
  return (ending == ".yaml" || ending == ".yml" || ending == ".xml") &&
         std::filesystem::is_regular_file(path, absent);
}

bool holds_runs(const std::filesystem::path& path) {
  return workspace::is_run(path) || !workspace::find_runs(path).empty();
}

const CLI::Option* place_option(const CLI::App& command) {
  for (const char* name : {"FILE", "DIR", "PATH", "RUN"})
    if (const CLI::Option* option = command.get_option_no_throw(name))
      return option;
  return nullptr;
}

std::string swallowed_hint(const CLI::App& command) {
  const CLI::Option* place = place_option(command);
  if (!place)
    return "";
  const bool file = place->get_name() == "FILE";
  if (!file && place->count() > 0)
    return "";
  for (const CLI::Option* option : command.get_options()) {
    // What directly follows the option is meant for it.
    if (option->get_positional() || option->get_expected_max() < 2)
      continue;
    for (const std::string& value : option->results())
      if (file ? is_input_file(value) : holds_runs(value))
        return fmt::format("{} consumed '{}' as a value; put {} first, or `--` before it",
                           option->get_name(), value, place->get_name());
  }
  return "";
}

/// The long options that JUBE's commands have. A script of JUBE's means one of them, whatever bench
/// has added.
bool is_of_jube(const std::string& name) {
  static const std::set<std::string> names{
      "analyse",      "append",          "command", "comment", "csv-parametrization",
      "debug",        "devel",           "display", "error",   "exclude",
      "force",        "hide-animation",  "id",      "help",    "num",
      "include-path", "not-bench",       "only",    "outpath", "result",
      "only-bench",   "parametrization", "reverse", "select",  "step",
      "strict",       "style",           "tag",     "update",  "verbose",
      "version",      "workpackage"};
  return names.contains(name);
}

/// The whole name of what may be the beginning of one, both without dashes.
std::string whole_name(const std::string& beginning, const CLI::App& command) {
  std::vector<std::string> names;  // one of each option that fits
  for (const CLI::Option* option : command.get_options()) {
    std::string fitting;
    for (const std::string& name : option->get_lnames()) {
      if (name == beginning)
        return name;
      if (name.starts_with(beginning) && (fitting.empty() || is_of_jube(name)))
        fitting = name;
    }
    if (!fitting.empty())
      names.push_back(fitting);
  }
  if (names.size() > 1 && std::ranges::count_if(names, is_of_jube) > 0)
    std::erase_if(names, std::not_fn(is_of_jube));
  if (names.size() > 1)
    throw CLI::ArgumentMismatch(fmt::format("--{} may be --{}", beginning, join(names, " or --")));
  return names.empty() ? beginning : names.front();
}

/// Writes out the long options of the arguments, as JUBE takes them: `--res` is `--result`, also
/// where an option that JUBE does not have begins so. What abbreviates no option is left for the
/// parser, and so is what follows `--`.
/// @throws CLI::ParseError if several options begin like that
void write_out_options(std::vector<std::string>& arguments, const CLI::App& command) {
  for (std::string& argument : arguments) {
    if (argument == "--")
      break;
    if (!argument.starts_with("--"))
      continue;
    const std::string beginning = argument.substr(2, argument.find('=') - 2);
    argument.replace(2, beginning.size(), whole_name(beginning, command));
  }
}

/// The command that the arguments name, or its own command: the program itself where they name
/// none.
const CLI::App& called_command(const CLI::App& program, std::span<const std::string> arguments) {
  const CLI::App* at = &program;
  for (const std::string& word : arguments) {
    if (word.starts_with('-') && at != &program)
      continue;
    const auto commands = at->get_subcommands({});
    const auto next = std::ranges::find(commands, word, &CLI::App::get_name);
    if (next == commands.end())
      break;
    at = *next;
  }
  return *at;
}

/// `bench`, `bench run`, `bench baseline check`.
std::string call_of(const CLI::App& command) {
  return command.get_parent() ? call_of(*command.get_parent()) + " " + command.get_name() : "bench";
}

/// @param at the command that was called, or the program itself
int usage(const CLI::App& at, const CLI::ParseError& error,
          std::span<const std::string> arguments) {
  const options::Refusal refusal = options::refusal_of(at, error, arguments);
  std::string hint = swallowed_hint(at);
  if (hint.empty())
    hint = refusal.hint.empty() ? call_of(at) + " --help" : refusal.hint;
  tell(fmt::format("error: {}\nhint: {}", refusal.message, hint));
  return usage_error;
}

/// A command line that parses, but not as it was meant.
int swallowed(const CLI::App& command, const std::string& hint) {
  tell(fmt::format("error: an option consumed the {} argument\nhint: {}",
                   place_option(command)->get_name(), hint));
  return usage_error;
}

/// The option for a file or directory that was given none, as by an unset variable of the shell.
/// Empty if there is none.
std::string option_without_path(const CLI::App& command) {
  static const std::set<std::string> paths{"FILE", "DIR", "PATH"};
  for (const CLI::Option* option : command.get_options())
    if (paths.contains(option->get_type_name()) &&
        std::ranges::find(option->results(), "") != option->results().end())
      return option->get_name();
  return "";
}

constexpr std::array general_options{"--strict", "--force", "--debug", "--devel"};

/// What JUBE takes with every command, where it means nothing here. `continue --debug` stays an
/// error, since it would execute what the user wants to avoid.
void accept_general_options(CLI::App& command) {
  for (const char* option : general_options)
    if (!command.get_option_no_throw(option) &&
        !(command.get_name() == "continue" && option == std::string("--debug")))
      command.add_flag(option)->group("");
  if (!command.get_option_no_throw("--verbose"))
    command.add_flag_callback("-v,--verbose", [] { command_log().set_verbose(); })->group("");
}

/// Lists of names and numbers may have commas instead of blanks: `-t gpu,debug`.
void accept_commas(CLI::App& command) {
  static const std::set<std::string> names_and_numbers{"COLUMN", "ID",  "NAME", "STEP",
                                                       "TABLE",  "TAG", "WP"};
  for (CLI::Option* option : command.get_options())
    if (!option->get_positional() && option->get_items_expected_max() > 1 &&
        names_and_numbers.contains(option->get_type_name()))
      option->delimiter(',');
  for (CLI::App* subcommand : command.get_subcommands({}))
    accept_commas(*subcommand);
}

/// @param called alone has its options, unless it shows those of all: they take half a millisecond
void declare_commands(CLI::App& app, const std::string& called, std::function<int()>& action) {
  const bool shows_all = called == "help" || called == "complete";
  for (const CommandGroup& group : command_groups())
    for (const Command& command : group.commands) {
      CLI::App* sub = app.add_subcommand(command.name, command.summary)->group(group.title);
      if (!shows_all && command.name != called)
        continue;
      sub->footer(fmt::format("  {}", command.example));
      sub->final_callback([&action, run_it = command.declare(*sub)] { action = run_it; });
      if (command.name == called) {
        accept_general_options(*sub);
        accept_commas(*sub);
      }
    }
}

/// Whether JUBE takes it in front of the command: one of the general options, or its beginning.
bool is_general(std::string_view argument) {
  const auto is_beginning_of = [&](std::string_view option) {
    return argument.size() > 2 && option.starts_with(argument);
  };
  if (argument == "-v" || argument == "-vv" || argument == "-vvv")
    return true;
  return !is_beginning_of("--version") &&
         (std::ranges::any_of(general_options, is_beginning_of) || is_beginning_of("--verbose"));
}

/// They mean what they mean behind the command.
std::vector<std::string> with_command_first(std::vector<std::string> arguments) {
  const auto command = std::ranges::find_if_not(arguments, is_general);
  if (command != arguments.end())
    std::rotate(arguments.begin(), command, command + 1);
  return arguments;
}

/// Tells if it has not.
bool has_written_output() {
  const int error = console().output_error();
  if (error != 0)
    tell(fmt::format("error: cannot write standard output: {}", std::strerror(error)),
         Level::error);
  return error == 0;
}

}  // namespace

int run_command(std::vector<std::string> arguments) {
  arguments = with_command_first(std::move(arguments));
  CLI::App app("bench runs benchmarks on HPC systems.", "bench");
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("-V,--version", "bench " BENCH_VERSION, "print the version");
  app.require_subcommand(1);
  app.footer(
      "`bench COMMAND --help` shows an example of each, `bench help` explains the language.");
  app.formatter_fn([](const CLI::App* command, const std::string& call, CLI::AppFormatMode) {
    return text_of(options::help_of(*command, call));
  });
  std::function<int()> action;
  declare_commands(app, arguments.empty() ? "" : arguments[0], action);
  command_log().set_command(arguments);
  const CLI::App& at = called_command(app, arguments);
  try {
    if (&at == &app && !arguments.empty() && !arguments[0].starts_with('-'))
      throw CLI::ExtrasError({arguments[0]});  // whatever follows, such as --help
    write_out_options(arguments, at);
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& asked_for_help) {
    std::ostringstream help;
    const int code = app.exit(asked_for_help, help);
    print(help.str());
    return has_written_output() ? code : failure;
  } catch (const CLI::ParseError& error) {
    return usage(at, error, std::span(arguments).subspan(at.get_parent() ? 1 : 0));
  }
  if (const std::string hint = swallowed_hint(at); !hint.empty())
    return swallowed(at, hint);
  if (const std::string option = option_without_path(at); !option.empty()) {
    tell(fmt::format("error: {} is empty\nhint: name a path, or leave out the option", option));
    return usage_error;
  }
  workspace::apply_group_umask();
  int code = action();
  if (!has_written_output())
    code = failure;
  return code;
}

}  // namespace bench::cli
