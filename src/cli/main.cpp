#include "abbreviations.hpp"
#include "command.hpp"
#include "interruption.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <signal.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/log_file.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/workspace/group.hpp>

namespace bench::cli {
namespace {

const std::array commands{
    Command{"run", "expand a benchmark and run it", "bench run examples/quickstart.yaml --result",
            declare_run},
    Command{"continue", "collect finished jobs and start what became ready",
            "bench continue examples/quickstart_run -i last", declare_continue},
    Command{"cancel", "cancel a run's batch jobs",
            "bench cancel examples/quickstart_run -i last -s train", declare_cancel},
    Command{"check", "check an input file and show what it would run",
            "bench check examples/quickstart.yaml --tag slurm", declare_check},
    Command{"analyse", "search the output of a run for its patterns",
            "bench analyse examples/quickstart_run", declare_analyse},
    Command{"result", "show the tables of a run",
            "bench result examples/quickstart_run -s markdown", declare_result},
    Command{"info", "list the runs, or show a run, its steps or workpackages",
            "bench info examples/quickstart_run -i last -s", declare_info},
    Command{"diff", "compare two runs: parameters, provenance and metrics",
            "bench diff examples/quickstart_run -i 0 1", declare_diff},
    Command{"compare", "say which metrics of two runs differ, and how certain that is",
            "bench compare examples/quickstart_run -i 0 1", declare_compare},
    Command{"history", "show a metric over many runs, and where its level changed",
            "bench history rate examples/quickstart_run", declare_history},
    Command{"baseline", "accept good runs, and check a run against them, for CI",
            "bench baseline accept examples/quickstart_run", declare_baseline},
    Command{"why", "explain why a workpackage failed, waits or does not exist",
            "bench why examples/quickstart_run 3", declare_why},
    Command{"status", "print RUNNING, FINISHED or ERROR, or watch a run",
            "bench status examples/quickstart_run --watch", declare_status},
    Command{"serve", "show all runs below a directory in a browser", "bench serve examples",
            declare_serve},
    Command{"log", "show the log files of a run", "bench log examples/quickstart_run -c run",
            declare_log},
    Command{"output", "list the files that commands wrote to",
            "bench output examples/quickstart_run -o stderr -d", declare_output},
    Command{"comment", "change the comment of a run",
            "bench comment 'after the upgrade' examples/quickstart_run", declare_comment},
    Command{"tag", "show the tags of an input file or a run", "bench tag examples/quickstart.yaml",
            declare_tag},
    Command{"remove", "delete a run, or workpackages that are to be repeated",
            "bench remove examples/quickstart_run -i 0 -w 3 --force", declare_remove},
    Command{"platforms", "list the known machines, or show one", "bench platforms show LUMI-G",
            declare_platforms},
    Command{"references", "list the published numbers, or show those of one source",
            "bench references d3.7_ap1 --metric total_runtime", declare_references},
    Command{"mlperf", "check and score logs of MLPerf HPC's benchmarks",
            "bench mlperf check examples/files/mlperf_hpc.log", declare_mlperf},
    Command{"schema", "print a JSON Schema of input files, for editors",
            "bench schema > bench.schema.json", declare_schema},
    Command{"complete", "print the completion script of a shell", "bench complete -s bash",
            declare_complete},
    Command{"help", "explain a command or a part of the language", "bench help parameter",
            declare_help},
};

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
const CLI::App& action_of(const CLI::App& command, const std::vector<std::string>& arguments) {
  const auto word = std::find_if(arguments.begin() + 1, arguments.end(),
                                 [](const auto& text) { return !text.starts_with('-'); });
  if (word != arguments.end())
    for (const CLI::App* sub : command.get_subcommands({}))
      if (sub->get_name() == *word)
        return *sub;
  return command;
}

/// @param at the command that was called, or the program itself
int usage(const CLI::App& at, const CLI::ParseError& error,
          const std::vector<std::string>& arguments) {
  std::string hint = swallowed_hint(at);
  if (hint.empty())
    hint = misspelt_option(at, arguments);
  if (hint.empty())
    hint = misspelt_subcommand(at, arguments);
  tell(fmt::format("error: {}\nhint: {}", error.what(),
                   hint.empty() ? call_of(at) + " --help" : hint));
  return usage_error;
}

/// A command line that parses, but not as it was meant.
int swallowed(const std::string& hint) {
  tell("error: an option consumed the FILE argument\nhint: " + hint);
  return usage_error;
}

/// `bench contine x` is worth a better answer than "the following arguments were not expected".
int unknown_command(const std::string& word) {
  std::vector<std::string> known;
  for (const Command& command : commands)
    known.emplace_back(command.name);
  const std::string near = did_you_mean(word, known);
  tell(fmt::format("error: unknown command '{}'\nhint: {}", word,
                   near.empty() ? "known: " + join(known, ", ") : near));
  return usage_error;
}

bool is_known(const std::string& word) {
  for (const Command& command : commands)
    if (word == command.name)
      return true;
  return false;
}

constexpr std::array general_options{"--strict", "--force", "--debug", "--devel"};

/// What JUBE takes with every command, where it means nothing here. `continue --debug` is left an
/// error, since it would execute what the user wants spared.
void accept_general_options(CLI::App& command) {
  for (const char* option : general_options)
    if (!command.get_option_no_throw(option) &&
        !(command.get_name() == "continue" && option == std::string("--debug")))
      command.add_flag(option)->group("");
  if (!command.get_option_no_throw("--verbose"))
    command.add_flag_callback("-v,--verbose", [] { command_log().set_verbose(); })->group("");
}

/// @param called the one that may need the general options; the others are spared the time
void declare_commands(CLI::App& app, const std::string& called, std::function<int()>& action) {
  for (const Command& command : commands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->footer(fmt::format("Example:\n  {}", command.example));
    sub->final_callback([&action, run_it = command.declare(*sub)] { action = run_it; });
    if (command.name == called)
      accept_general_options(*sub);
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
                           ? action_of(*app.get_subcommand(arguments.front()), arguments)
                           : app;
  const std::vector<std::string> written = arguments;
  try {
    arguments = with_whole_options(std::move(arguments), at);
    std::ranges::reverse(arguments);
    app.parse(std::move(arguments));
  } catch (const CLI::Success& asked_for_help) {
    return app.exit(asked_for_help);
  } catch (const CLI::ParseError& error) {
    return usage(at, error, written);
  }
  if (const std::string hint = swallowed_hint(at); !hint.empty())
    return swallowed(hint);
  workspace::apply_group_umask();
  int code = action();
  if (const int error = console().output_error()) {
    tell(fmt::format("error: cannot write standard output: {}", std::strerror(error)),
         Level::error);
    code = failure;
  }
  command_log().close(code);
  return code;
}

}  // namespace
}  // namespace bench::cli

int main(int argc, char** argv) {
  // A reader of our output that goes away is an error that write reports, not a reason to die
  // half-way through a transition.
  signal(SIGPIPE, SIG_IGN);
  bench::cli::Console::open_standard_descriptors();
  try {
    const int code = bench::cli::run({argv + 1, argv + argc});
    bench::cli::end_by_signal(code);
    return code;
  } catch (const bench::Error& error) {
    bench::cli::tell(render(error), bench::cli::Level::error);
    if (error.place().known() && !bench::cli::advice().empty())
      bench::cli::tell(bench::cli::advice());
  } catch (const std::exception& defect) {
    bench::cli::tell(
        fmt::format("error: {}\nhint: this is a bug in bench; please report it", defect.what()),
        bench::cli::Level::error);
  }
  bench::cli::command_log().close(bench::cli::failure);
  return bench::cli::failure;
}
