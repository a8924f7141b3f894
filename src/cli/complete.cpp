#include "complete.hpp"

#include "command.hpp"
#include "completion_scripts.hpp"
#include "topics.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/cli/output/log_file.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/machine/platform.hpp>
#include <bench/results/library.hpp>
#include <bench/results/style.hpp>

namespace bench::cli {
namespace {

Completion::Place place_of(const CLI::App& command) {
  const std::vector<const CLI::App*> actions = command.get_subcommands({});
  const auto takes = [&](const char* name) {
    return command.get_option_no_throw(name) ||
           std::ranges::any_of(actions, [&](const CLI::App* action) {
             return action->get_option_no_throw(name) != nullptr;
           });
  };
  if (takes("FILE") || takes("LOG"))
    return Completion::Place::file;
  return takes("DIR") || takes("PATH") || takes("RUN") ? Completion::Place::directory
                                                       : Completion::Place::none;
}

/// Words that the command takes, and the names of its own commands.
std::vector<std::string> words_of(const CLI::App& command) {
  if (command.get_option_no_throw("REFERENCE"))
    return references::reference_names();
  if (command.get_option_no_throw("TOPIC"))
    return topic_names();
  std::vector<std::string> names;
  for (const CLI::App* action : command.get_subcommands({}))
    names.push_back(action->get_name());
  return names;
}

OptionValue value_of(const CLI::App& command, const CLI::Option& option,
                     std::vector<std::string> names) {
  using Kind = OptionValue::Kind;
  OptionValue value{.names = std::move(names)};
  const std::string type = option.get_type_name();
  const auto offer = [&](std::vector<std::string> words) {
    value.kind = Kind::word;
    value.words = std::move(words);
  };
  if (type == "FILE" || type == "PATH")
    value.kind = Kind::file;
  else if (type == "DIR")
    value.kind = Kind::directory;
  else if (option.check_lname("id"))
    value.kind = Kind::run_id;
  else if (option.check_lname("platform"))
    offer(platform::platform_names());
  else if (option.check_lname("compare"))
    offer(references::reference_names());
  else if (option.check_lname("style"))
    offer(result::style_names(command.get_name() == "result" ? result::Styles::all
                                                             : result::Styles::text));
  else if (option.check_lname("format"))
    offer(export_formats());
  else if (option.check_lname("shell"))
    offer({"bash", "zsh", "fish"});
  else if (command.get_name() == "log" && option.check_lname("command"))
    offer(log_names());
  else if (command.get_name() == "output" && option.check_lname("only"))
    offer({"stdout", "stderr"});
  return value;
}

/// The shell that the user works in; bash where that is not one of ours.
std::string login_shell() {
  const char* shell = std::getenv("SHELL");
  const std::string name = std::filesystem::path(shell ? shell : "").filename().string();
  return name == "zsh" || name == "fish" ? name : "bash";
}

/// The options of a command and of its own commands, each once.
std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  std::vector<const CLI::Option*> options = command.get_options();
  for (const CLI::App* action : command.get_subcommands({}))
    for (const CLI::Option* option : action->get_options())
      if (std::ranges::none_of(options, [&](const CLI::Option* known) {
            return known->get_name(true, true) == option->get_name(true, true);
          }))
        options.push_back(option);
  return options;
}

}  // namespace

std::vector<Completion> completions_of(const CLI::App& root) {
  std::vector<Completion> completions;
  for (const CLI::App* command : root.get_subcommands({})) {
    Completion one{
        .command = command->get_name(), .summary = command->get_description(), .options = {}};
    one.place = place_of(*command);
    one.words = words_of(*command);
    for (const CLI::Option* option : options_of(*command)) {
      std::vector<std::string> names;
      for (const std::string& name : option->get_snames())
        names.push_back("-" + name);
      for (const std::string& name : option->get_lnames())
        names.push_back("--" + name);
      one.options.insert(one.options.end(), names.begin(), names.end());
      if (!names.empty() && option->get_items_expected_max() > 0)
        one.values.push_back(value_of(*command, *option, std::move(names)));
    }
    completions.push_back(std::move(one));
  }
  return completions;
}

std::function<int()> declare_complete(CLI::App& app) {
  struct Options {
    std::string shell;
    std::string program = "bench";
  };
  const auto options = std::make_shared<Options>();
  app.add_option("-s,--shell", options->shell, "bash, zsh or fish; default: that of $SHELL")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("SHELL");
  app.add_option("-c,--command-name", options->program, "the command that the completion is for")
      ->type_name("NAME")
      ->capture_default_str();
  return [options, &app] {
    constexpr const char* of_names =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
    if (options->program.empty() ||
        options->program.find_first_not_of(of_names) != std::string::npos)
      throw Error(fmt::format("'{}' is not the name of a program", options->program),
                  "use letters, digits and _ . + -");
    const auto completions = completions_of(*app.get_parent());
    const std::string shell = options->shell.empty() ? login_shell() : options->shell;
    if (shell == "zsh")
      print(zsh_completion(completions, options->program));
    else if (shell == "fish")
      print(fish_completion(completions, options->program));
    else
      print(bash_completion(completions, options->program));
    return 0;
  };
}

}  // namespace bench::cli
