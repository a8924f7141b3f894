#pragma once

#include "evaluation.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <bench/cli/output/show.hpp>
#include <bench/insight/doctor.hpp>
#include <bench/results/table.hpp>
#include <bench/space/input.hpp>

namespace bench::cli {

/// Exit codes: something failed or the input is wrong; the command line is wrong; a check of a run
/// is undecided.
constexpr int failure = 1;
constexpr int usage_error = 2;
constexpr int undecided = 3;

/// A command of `bench`, a row in commands.cpp.
struct Command {
  const char* name;
  const char* summary;
  const char* example;
  /// Declares the options and returns what runs once they are parsed; its result is the exit code.
  std::function<int()> (*declare)(CLI::App& app);
};

/// A group of commands in the list of `bench --help`.
struct CommandGroup {
  const char* title;
  std::span<const Command> commands;
};

/// All commands.
std::span<const CommandGroup> command_groups();

/// `-u`, `-t`, `--include-path`: an input file for an existing run.
/// @param description what it is used for
void declare_update(CLI::App& app, Update& update, const std::string& description);
/// Warns of `-t` and `--include-path` without `-u`.
void warn_of_idle(const Update& update);
/// For commands that show results.
inline constexpr const char* update_of_results =
    "use the patterns, analysers and results of this input file";

/// `-s, --style`: one of the styles of tables; another word is wrong usage.
void declare_style(CLI::App& app, std::string& style, const std::string& description,
                   results::Styles styles = results::Styles::text);
/// Prints a table. Its notes go to standard error if the style is for programs.
void print_table(const results::Table& table, const std::string& style);
/// `--select` and `--exclude`: names of columns.
void declare_columns(CLI::App& app, ShowOptions& show);

/// Accepts only finite numbers above 0.
CLI::Validator number_above_zero();

/// `--margin`, of commands that judge changes.
void declare_margin(CLI::App& app, double& percent);

/// An input file, or a directory that `bench export` wrote, and how it is read.
struct InputChoice {
  std::vector<std::string> tags;
  std::vector<std::string> include_path;
  space::Request request;

  /// `--tag`, `--include-path`, `--outpath` and `--platform`.
  void declare(CLI::App& app);
  void declare_max_workpackages(CLI::App& app);
  space::Request request_for(const std::string& file) const;
};

/// `--strict` and `--lenient`.
void declare_strictness(CLI::App& app, bool& strict, bool& lenient);

/// A finding in columns: health, check and text, its remedy as a hint on the next line.
/// @param columns of the terminal, at which lines wrap; 0: no wrapping
std::string finding_text(const insight::CheckResult& finding, std::size_t columns);

/// `19 ok, 1 warning, 0 errors`
std::string findings_summary(const std::vector<insight::CheckResult>& findings);

/// Reads the command line and runs its command.
/// @param arguments after the name of the program
/// @returns the exit code
int run_command(std::vector<std::string> arguments);

std::function<int()> declare_run(CLI::App& app);
std::function<int()> declare_continue(CLI::App& app);
std::function<int()> declare_cancel(CLI::App& app);
std::function<int()> declare_tell(CLI::App& app);
std::function<int()> declare_ask(CLI::App& app);
std::function<int()> declare_check(CLI::App& app);
std::function<int()> declare_plan(CLI::App& app);
std::function<int()> declare_analyse(CLI::App& app);
std::function<int()> declare_result(CLI::App& app);
std::function<int()> declare_report(CLI::App& app);
std::function<int()> declare_info(CLI::App& app);
std::function<int()> declare_why(CLI::App& app);
std::function<int()> declare_diff(CLI::App& app);
std::function<int()> declare_compare(CLI::App& app);
std::function<int()> declare_history(CLI::App& app);
std::function<int()> declare_baseline(CLI::App& app);
std::function<int()> declare_export(CLI::App& app);
std::function<int()> declare_status(CLI::App& app);
std::function<int()> declare_serve(CLI::App& app);
std::function<int()> declare_log(CLI::App& app);
std::function<int()> declare_output(CLI::App& app);
std::function<int()> declare_comment(CLI::App& app);
std::function<int()> declare_tag(CLI::App& app);
std::function<int()> declare_remove(CLI::App& app);
std::function<int()> declare_platforms(CLI::App& app);
std::function<int()> declare_doctor(CLI::App& app);
std::function<int()> declare_references(CLI::App& app);
std::function<int()> declare_mlflow(CLI::App& app);
std::function<int()> declare_mlperf(CLI::App& app);
std::function<int()> declare_schema(CLI::App& app);
std::function<int()> declare_complete(CLI::App& app);
std::function<int()> declare_help(CLI::App& app);

}  // namespace bench::cli
