#include "command.hpp"
#include "commands.hpp"
#include "interruption.hpp"
#include "options/cli11.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <new>
#include <set>
#include <span>
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
#include <bench/base/help.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/log_file.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/workspace/group.hpp>

namespace bench::cli {
namespace {

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

int run(std::vector<std::string> arguments) {
  arguments = with_command_first(std::move(arguments));
  CLI::App app("bench runs benchmarks on HPC systems.", "bench");
  app.set_version_flag("-V,--version", "bench " BENCH_VERSION);
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
