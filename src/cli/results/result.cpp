#include "../command.hpp"
#include "shown_runs.hpp"

#include <algorithm>
#include <cstddef>
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
#include <bench/base/failures.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/log_file.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/cli/output/show.hpp>
#include <bench/cli/runs/each.hpp>
#include <bench/cli/runs/evaluation.hpp>
#include <bench/cli/runs/published.hpp>
#include <bench/result/style.hpp>
#include <bench/setup/run.hpp>
#include <bench/tabulate/filters.hpp>
#include <bench/tabulate/report.hpp>
#include <bench/tabulate/tidy.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

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
  declare_style(app, show.style, "style of the tables", result::Styles::all);
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
      throw Error(fmt::format("unknown result '{}'", name),
                  near.empty() ? fmt::format("the results are {}", join(names, ", ")) : near);
    }
}

/// The results of one run, or its tables compared with published numbers.
tabulate::Report report_of(Evaluated& one, const ResultOptions& options,
                           std::optional<PublishedComparison>& comparison, Failures& failures) {
  const std::set<std::string> only(options.tables.begin(), options.tables.end());
  if (comparison)
    PublishedComparison::add_conditions(one.run.benchmark);
  Diagnostics diagnostics = telling_diagnostics();
  tabulate::Report report =
      tabulate::report(one.run, one.workspace, one.analyses, only, diagnostics,
                       one.own ? tabulate::Trust::own : tabulate::Trust::foreign, &failures);
  if (comparison)
    return comparison->compared(one, report);
  return report;
}

/// Shows the results. Those of the user's own runs are saved if that is possible, unless they are
/// compared: somebody else's can be read anyway. The slowest, what is sent to other machines, comes
/// last.
void show_and_save(const std::vector<Evaluated>& runs, std::vector<RunReport>& reports,
                   const ResultOptions& options, Failures& failures) {
  const auto for_own = [&](auto action) {
    for (std::size_t k = 0; k < runs.size() && !options.reference; ++k)
      if (runs[k].own && runs[k].writable)
        action(reports[k].report);
  };
  for_own([&](const tabulate::Report& report) { keep_tables(report, failures); });
  failures.attempt([&] { show(reports, options.show, &failures); });
  for_own([&](const tabulate::Report& report) { send(report, options.show.style, failures); });
}

Evaluated evaluate_logged(const RunDirectory& directory, const ResultOptions& options,
                          Found found) {
  if (workspace::is_own(directory.path))
    command_log().open(directory.path, "result");
  else
    command_log().close(0);
  return evaluate(directory, options.runs.update, options.analyse, found);
}

int show_tables(const ResultOptions& options) {
  std::optional<PublishedComparison> comparison;
  if (options.reference)
    comparison.emplace(*options.reference);
  std::vector<Evaluated> runs;
  std::set<std::string> names;
  const auto add = [&](const RunDirectory& run) {
    runs.push_back(evaluate_logged(run, options, Found::in_rows));
    for (std::string& name : tabulate::result_names(runs.back().run.benchmark))
      names.insert(std::move(name));
    return 0;
  };
  int worst = 0;
  const std::vector<RunDirectory> chosen = options.runs.in(options.directories, worst);
  worst = std::max(worst, act_on_each(chosen, add));
  if (runs.empty())
    return worst;
  check_names(options.tables, names);
  Failures failures;
  std::vector<RunReport> reports;
  for (Evaluated& one : runs) {
    reports.push_back({.id = one.run.directory.id, .report = {}});
    const auto fill = [&] {
      reports.back().report = report_of(one, options, comparison, failures);
      return 0;
    };
    worst = std::max(worst, chosen.size() == 1 ? fill() : isolate_errors(one.run.directory, fill));
  }
  failures.attempt([&] {
    if (comparison)
      comparison->check_any();
    show_and_save(runs, reports, options, failures);
  });
  return tell_failures(failures) ? std::max(worst, failure) : worst;
}

/// The outpath of a run, as the user wrote it.
std::string outpath_of(const std::filesystem::path& run_directory) {
  return (run_directory / ".." / "").lexically_normal().parent_path().string();
}

int show_tidy(const ResultOptions& options) {
  std::vector<Evaluated> runs;
  std::vector<std::string> outpaths;
  const auto add = [&](const RunDirectory& run) {
    runs.push_back(evaluate_logged(run, options, Found::in_workpackages));
    outpaths.push_back(outpath_of(run.path));
    return 0;
  };
  int worst = 0;
  const std::vector<RunDirectory> chosen = options.runs.in(options.directories, worst);
  worst = std::max(worst, act_on_each(chosen, add));
  if (runs.empty())
    return worst;
  std::vector<tabulate::TidyRun> all;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const std::size_t at = options.show.descending ? runs.size() - 1 - k : k;
    all.push_back({runs[at].run, runs[at].workspace, runs[at].analyses,
                   options.directories.size() > 1 ? outpaths[at] : ""});
  }
  show(tabulate::tidy(all).table, "csv", options.show);
  return worst;
}

int show_results(ResultOptions options) {
  if (options.directories.empty())
    options.directories = {"."};
  if (options.show.style.empty())
    options.show.style = result::style_of_file(options.show.file);
  if (options.tidy)
    return show_tidy(options);
  if (options.directories.size() > 1)
    throw Error("several directories were given", "--tidy makes one table of them");
  return show_tables(options);
}

}  // namespace

std::function<int()> declare_result(CLI::App& app) {
  const auto options = std::make_shared<ResultOptions>();
  declare_runs(app, *options);
  declare_tables(app, *options);
  declare_form(app, options->show);
  return [options] { return show_results(*options); };
}

}  // namespace bench::cli
