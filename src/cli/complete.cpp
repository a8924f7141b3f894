#include "complete.hpp"

#include "command.hpp"
#include "output.hpp"

#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/core.h>

#include <bench/base/error.hpp>

namespace bench::cli {
namespace {

Completion::Place place_of(const CLI::App& command) {
  if (command.get_option_no_throw("FILE"))
    return Completion::Place::file;
  if (command.get_option_no_throw("DIR") || command.get_option_no_throw("PATH"))
    return Completion::Place::directory;
  return command.get_option_no_throw("TOPIC") ? Completion::Place::topic : Completion::Place::none;
}

/// The shell that the user works in; bash where that is not one of ours.
std::string login_shell() {
  const char* shell = std::getenv("SHELL");
  const std::string name = std::filesystem::path(shell ? shell : "").filename().string();
  return name == "zsh" || name == "fish" ? name : "bash";
}

}  // namespace

std::vector<Completion> completions_of(const CLI::App& root) {
  std::vector<Completion> completions;
  for (const CLI::App* command : root.get_subcommands({})) {
    Completion one{
        .command = command->get_name(), .summary = command->get_description(), .options = {}};
    one.place = place_of(*command);
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_snames())
        one.options.push_back("-" + name);
      for (const std::string& name : option->get_lnames())
        one.options.push_back("--" + name);
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
  app.add_option("-c,--command-name", options->program, "the name under which bench is called")
      ->type_name("NAME")
      ->capture_default_str();
  return [options, &app] {
    constexpr const char* of_names =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
    if (options->program.empty() ||
        options->program.find_first_not_of(of_names) != std::string::npos)
      throw Error(fmt::format("'{}' is no name of a program", options->program),
                  "letters, digits and _ . + -");
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
