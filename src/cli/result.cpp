#include "command.hpp"
#include "evaluation.hpp"
#include "references.hpp"
#include "runs.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/cli/output/show.hpp>
#include <bench/results/report.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {
namespace {

using workspace::RunDirectory;

struct ResultOptions {
  std::vector<std::string> directories;
  ShownRuns runs;  ///< In each of them.
  ShowOptions show;
  bool tidy = false;
  std::vector<std::string> tables;
  bool analyse = false;
  std::optional<std::string> reference;  ///< None: nothing is compared.
};

void declare_runs(CLI::App& app, ResultOptions& options) {
  app.add_option("DIR", options.directories,
                 "outpath or run directory, several with --tidy; default: the current directory");
  options.runs.declare(app);
  app.add_flag("-r,--reverse", options.show.descending, "with several runs: newest first");
  app.add_flag("-a,--analyse", options.analyse, "analyse again, even if nothing has changed");
}

void declare_tables(CLI::App& app, ResultOptions& options) {
  auto* tidy = app.add_flag(
      "--tidy", options.tidy,
      "instead of the tables of the file: one row per workpackage with all of its data");
  app.add_option("-o,--only", options.tables, "only the tables with these names")
      ->type_name("TABLE")
      ->excludes(tidy);
  app.add_option("--compare", options.reference,
                 "compare with published numbers: a name that `bench references` lists, a "
                 ".csv file or a directory of them")
      ->type_name("REFERENCE")
      ->excludes(tidy);
}

void declare_form(CLI::App& app, ShowOptions& show) {
  declare_style(app, show.style, "style of the tables", results::Styles::all);
  app.add_option("--output", show.file,
                 "write the tables to this file; without -s, the extension selects the style: "
                 ".csv, .json, .md, .tex, .html, .parquet")
      ->type_name("FILE");
  app.add_option("--where", show.where,
                 "only rows that satisfy this SQL expression over the columns")
      ->type_name("EXPRESSION");
  app.add_option("--sort", show.sort, "sort by these columns; COLUMN:desc: the largest first")
      ->type_name("COLUMN");
  declare_columns(app, show);
  app.add_flag("--raw", show.raw, "full values, without the columns' formats");
}

void check_names(const std::vector<std::string>& wanted, const std::set<std::string>& known) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const std::string& name : wanted)
    if (!known.contains(name)) {
      const std::string near = did_you_mean(name, names);
      throw Error(Id::unknown_name, fmt::format("unknown result '{}'", name),
                  near.empty() ? fmt::format("the results are {}", join(names, ", ")) : near);
    }
}

/// The results of one run, or its tables compared with published numbers.
results::Report report_of(Evaluated& one, const ResultOptions& options,
                          std::optional<PublishedComparison>& comparison, Failures& failures) {
  const std::set<std::string> only(options.tables.begin(), options.tables.end());
  if (comparison)
    PublishedComparison::add_conditions(one.run.benchmark);
  results::Report report = report_of(one, one.run, only, &failures);
  if (comparison)
    return comparison->compared(one, report);
  return report;
}

Evaluated evaluate_logged(const RunDirectory& directory, const ResultOptions& options,
                          Found found) {
  if (workspace::is_own(directory.path))
    command_log().open(directory.path, "result");
  return evaluate(directory, options.runs.update, options.analyse, found);
}

/// What the tables of runs are made of, and what went wrong with all of them.
struct TablesOfRuns {
  std::vector<RunReport> reports;
  std::set<std::string> names;  ///< Of the results of all runs.
  Failures failures;
};

/// Adds the results of one run. Those of the user's own run are saved if that is possible, unless
/// they are compared: somebody else's can be read anyway.
void add_run(Evaluated one, const ResultOptions& options,
             std::optional<PublishedComparison>& comparison, TablesOfRuns& shown,
             Failures& failures) {
  for (std::string& name : results::result_names(one.run.benchmark))
    shown.names.insert(std::move(name));
  RunReport added{.id = one.run.directory.id,
                  .report = report_of(one, options, comparison, failures),
                  .is_kept = one.own && one.writable && !comparison};
  if (added.is_kept)
    keep_tables(added.report, failures);
  if (failures.empty() || !added.report.empty())
    shown.reports.push_back(std::move(added));
}

/// Shows the results. The slowest, what is sent to other machines, comes last.
void show_and_send(TablesOfRuns& shown, const ResultOptions& options, bool several_runs) {
  Failures& failures = shown.failures;
  failures.attempt([&] { show(shown.reports, several_runs, options.show, &failures); });
  for (const RunReport& one : shown.reports)
    if (one.is_kept)
      send(one.report, options.show.style, failures);
}

int show_tables(const ResultOptions& options) {
  std::optional<PublishedComparison> comparison;
  if (options.reference)
    comparison.emplace(*options.reference);
  int worst = 0;
  const std::vector<RunDirectory> chosen = options.runs.in(options.directories, worst);
  const bool several_runs = chosen.size() > 1;
  TablesOfRuns shown;
  const int code = act_on_each(chosen, [&](const RunDirectory& run) {
    Failures of_run;
    add_run(evaluate_logged(run, options, Found::in_rows), options, comparison, shown,
            several_runs ? of_run : shown.failures);
    tell_errors(of_run.errors(), short_path(run.path));
    return of_run.empty() ? 0 : failure;
  });
  worst = std::max(worst, code);
  if (!shown.reports.empty())
    shown.failures.attempt([&] {
      check_names(options.tables, shown.names);
      if (comparison)
        comparison->check_any();
      show_and_send(shown, options, several_runs);
    });
  tell_errors(shown.failures.errors());
  return shown.failures.empty() ? worst : std::max(worst, failure);
}

/// The outpath of a run, as the user wrote it.
std::string written_outpath_of(const std::filesystem::path& run_directory) {
  return (run_directory / ".." / "").lexically_normal().parent_path().string();
}

int show_tidy(const ResultOptions& options) {
  allow_many_open_runs();
  std::deque<Evaluated> runs;
  std::vector<results::TidyRun> rows;
  const auto add = [&](const RunDirectory& run) {
    const Evaluated& one = runs.emplace_back(evaluate_logged(run, options, Found::in_workpackages));
    rows.push_back({one.run, one.workspace, one.analyses,
                    options.directories.size() > 1 ? written_outpath_of(run.path) : ""});
  };
  int worst = 0;
  const std::vector<RunDirectory> chosen = options.runs.in(options.directories, worst);
  worst = std::max(worst, for_each_run(chosen, add));
  if (runs.empty())
    return worst;
  if (options.show.descending)
    rows = std::vector<results::TidyRun>(rows.rbegin(), rows.rend());
  show(results::tidy(rows).table, "csv", options.show);
  return worst;
}

int show_results(ResultOptions options) {
  if (options.directories.empty())
    options.directories = {"."};
  if (options.show.style.empty())
    options.show.style = results::style_of_file(options.show.file);
  if (options.tidy)
    return show_tidy(options);
  if (options.directories.size() > 1)
    throw Error(Id::usage, "several directories were given", "--tidy makes one table of them");
  return show_tables(options);
}

}  // namespace

std::function<int()> declare_analyse(CLI::App& app) {
  struct Options {
    RunChoice choice;
    Update update;
  };
  const auto options = std::make_shared<Options>();
  options->choice.declare(app);
  declare_update(app, options->update, update_of_results);
  return [options] {
    warn_of_idle(options->update);
    return for_each_run(options->choice.runs(), [&](const workspace::RunDirectory& directory) {
      if (!workspace::is_made_by_jube(directory.path))
        command_log().open(directory.path, "analyse");
      analyse_directory(directory, options->update);
      print("analysed " + short_path(std::filesystem::absolute(directory.path)) + "\n");
    });
  };
}

std::function<int()> declare_result(CLI::App& app) {
  const auto options = std::make_shared<ResultOptions>();
  declare_runs(app, *options);
  declare_tables(app, *options);
  declare_form(app, options->show);
  return [options] { return show_results(*options); };
}

}  // namespace bench::cli
