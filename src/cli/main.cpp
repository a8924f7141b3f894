#include "abbreviations.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "interruption.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <new>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/log_file.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/workspace/group.hpp>

namespace bench::cli {
namespace {

/// The did-you-mean for the first long option that the command does not have; empty: none is near.
std::string misspelt_option(const CLI::App& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames())
      known.push_back("--" + name);
  for (const std::string& argument : arguments) {
    const std::string word = argument.substr(0, argument.find('='));
    if (word.starts_with("--") && word != "--" && std::ranges::find(known, word) == known.end())
      return did_you_mean(word, known);
  }
  return "";
}

/// The did-you-mean for a word in the place of a command's own command, as in `mlperf chek`.
std::string misspelt_subcommand(const CLI::App& command,
                                const std::vector<std::string>& arguments) {
  std::vector<std::string> known;
  for (const CLI::App* sub : command.get_subcommands({}))
    known.push_back(sub->get_name());
  if (known.empty() || !command.get_parent())
    return "";
  const auto word = std::find_if(arguments.begin() + 1, arguments.end(),
                                 [](const auto& text) { return !text.starts_with('-'); });
  if (word == arguments.end() || std::ranges::find(known, *word) != known.end())
    return "";
  return suggestion(*word, known, fmt::format("the commands of {} are ", command.get_name()));
}

/// `bench`, `bench run`, `bench baseline check`.
std::string call_of(const CLI::App& command) {
  return command.get_parent() ? call_of(*command.get_parent()) + " " + command.get_name() : "bench";
}

/// The command's own command that the arguments name, else the command.
const CLI::App* action_of(const CLI::App* command, const std::vector<std::string>& arguments) {
  const auto word = std::find_if(arguments.begin() + 1, arguments.end(),
                                 [](const auto& text) { return !text.starts_with('-'); });
  if (word != arguments.end())
    for (const CLI::App* sub : command->get_subcommands({}))
      if (sub->get_name() == *word)
        return sub;
  return command;
}

/// What the parser says. The end of a range that has none is the largest number, with 309 digits.
std::string text_of(const CLI::ParseError& error) {
  constexpr std::size_t longest_range = 100;
  const std::string text = error.what();
  const auto range = text.find(" not in range ");
  return range != std::string::npos && text.size() - range > longest_range
             ? text.substr(0, range) + " is too small"
             : text;
}

/// @param at the command that was called, or the program itself
int usage(const CLI::App& at, const CLI::ParseError& error,
          const std::vector<std::string>& arguments) {
  std::string hint = swallowed_hint(at);
  if (hint.empty())
    hint = misspelt_option(at, arguments);
  if (hint.empty())
    hint = misspelt_subcommand(at, arguments);
  tell(fmt::format("error: {}\nhint: {}", text_of(error),
                   hint.empty() ? call_of(at) + " --help" : hint));
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

/// `bench contine x` is worth a better answer than "the following arguments were not expected".
int unknown_command(const std::string& word) {
  std::vector<std::string> known;
  for (const CommandGroup& group : command_groups())
    for (const Command& command : group.commands)
      known.emplace_back(command.name);
  const std::string near = did_you_mean(word, known);
  tell(fmt::format("error: unknown command '{}'\nhint: {}", word,
                   near.empty() ? "known: " + join(known, ", ") : near));
  return usage_error;
}

bool is_known(const std::string& word) {
  return std::ranges::any_of(command_groups(), [&](const CommandGroup& group) {
    return std::ranges::any_of(group.commands,
                               [&](const Command& command) { return word == command.name; });
  });
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

/// @param called the one that may need the general options; the others are spared the time
void declare_commands(CLI::App& app, const std::string& called, std::function<int()>& action) {
  for (const CommandGroup& group : command_groups())
    for (const Command& command : group.commands) {
      CLI::App* sub = app.add_subcommand(command.name, command.summary)->group(group.title);
      sub->footer(fmt::format("Example:\n  {}", command.example));
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

int run(std::vector<std::string> arguments) {
  arguments = with_command_first(std::move(arguments));
  CLI::App app("bench runs benchmarks on HPC systems.", "bench");
  app.set_version_flag("-V,--version", "bench " BENCH_VERSION);
  app.require_subcommand(1);
  app.footer(
      "`bench COMMAND --help` shows an example of each, `bench help` explains the language.");
  std::function<int()> action;
  declare_commands(app, arguments.empty() ? "" : arguments[0], action);
  if (!arguments.empty() && !arguments[0].starts_with('-') && !is_known(arguments[0]))
    return unknown_command(arguments[0]);
  command_log().set_command(arguments);
  const CLI::App& at = !arguments.empty() && is_known(arguments.front())
                           ? *action_of(app.get_subcommand(arguments.front()), arguments)
                           : app;
  const std::vector<std::string> written = arguments;
  try {
    arguments = with_whole_options(std::move(arguments), at);
    std::ranges::reverse(arguments);
    app.parse(std::move(arguments));
  } catch (const CLI::Success& asked_for_help) {
    std::ostringstream help;
    const int code = app.exit(asked_for_help, help);
    print(help.str());
    return has_written_output() ? code : failure;
  } catch (const CLI::ParseError& error) {
    return usage(at, error, written);
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

/// The last words of a program that would die in silence, as where its stack is too small.
void tell_segmentation_fault(int) {
  constexpr std::string_view text =
      "error: bench ends with a segmentation fault\n"
      "hint: is the limit of the stack low (`ulimit -s`)? otherwise this is a bug in bench; please "
      "report it\n";
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
}  // and what failed is executed again, now without this function

/// Of this thread. A sanitizer has its own words.
void catch_segmentation_fault() {
  static std::array<char, std::size_t{64} << 10> stack;
  struct sigaction action {};
  if (::sigaction(SIGSEGV, nullptr, &action) != 0 || action.sa_handler != SIG_DFL)
    return;
  const stack_t alternative{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  if (::sigaltstack(&alternative, nullptr) != 0)
    return;
  action.sa_handler = tell_segmentation_fault;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND);
  ::sigaction(SIGSEGV, &action, nullptr);
}

/// A shell may stay in a directory that somebody has deleted, where no relative path means
/// anything.
void tell_if_working_directory_is_gone() {
  std::error_code refusal;
  if (std::filesystem::current_path(refusal).empty() &&
      refusal == std::errc::no_such_file_or_directory)
    tell("note: the working directory has been deleted; change to another one, as with `cd`");
}

/// The exit code of a call; its errors are told.
int code_of(const std::vector<std::string>& arguments) {
  catch_segmentation_fault();
  int code = failure;
  try {
    code = run(arguments);
  } catch (const Error& error) {
    tell_errors({error});
  } catch (const std::filesystem::filesystem_error& refusal) {
    const std::string path = refusal.path1().string();
    tell_errors({Error::of_system(
        path.empty() ? "cannot tell the working directory" : fmt::format("cannot access {}", path),
        refusal.code().value())});
  } catch (const std::bad_alloc&) {
    tell_errors({Error("out of memory", "is there a limit on it (`ulimit -v`, a cgroup)?")});
  } catch (const std::exception& defect) {
    tell(fmt::format("error: {}\nhint: this is a bug in bench; please report it", defect.what()),
         Level::error);
  }
  if (code == failure)
    tell_if_working_directory_is_gone();
  command_log().close(code);
  return code;
}

/// Does it on a stack of the usual size where this process is limited to a smaller one. The
/// programs that bench starts keep the limit.
int on_usual_stack(const std::function<int()>& work) {
  constexpr rlim_t usual = rlim_t{8} << 20;
  rlimit limit{};
  pthread_attr_t attributes;
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= usual ||
      ::pthread_attr_init(&attributes) != 0)
    return work();
  ::pthread_attr_setstacksize(&attributes, usual);
  ::pthread_setattr_default_np(&attributes);  // of all threads
  ::pthread_attr_destroy(&attributes);
  int code = failure;
  std::thread worker([&] { code = work(); });
  // Signals interrupt the work, which waits for news.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  worker.join();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return code;
}

}  // namespace
}  // namespace bench::cli

int main(int argc, char** argv) {
  // A reader of our output that goes away is an error that write reports, not a reason to die
  // half-way through a transition.
  signal(SIGPIPE, SIG_IGN);
  // The same of a file that has reached the limit of its size (ulimit -f).
  signal(SIGXFSZ, SIG_IGN);
  // What started bench may ignore or block signals, and a process inherits that. Without SIGCHLD
  // the end of a command would stay unknown, and blocked ones would never interrupt.
  signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  bench::cli::Console::open_standard_descriptors();
  const int code = bench::cli::on_usual_stack([&] {
    return bench::cli::code_of({argv + 1, argv + argc});
  });
  bench::cli::end_by_signal(code);
  return code;
}
