#include "../command.hpp"

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
#include <bench/cli/evaluation/evaluation.hpp>
#include <bench/cli/evaluation/published.hpp>
#include <bench/cli/output/log_file.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/cli/output/show.hpp>
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
  RunChoice choice;  ///< In each of them.
  Update update;
  ShowOptions show;
  bool tidy = false;
  std::vector<std::string> tables;
  std::size_t newest = 0;  ///< 0: all selected runs.
  bool analyse = false;
  std::optional<std::string> reference;  ///< None: nothing is compared.
};

void declare_runs(CLI::App& app, ResultOptions& options) {
  app.add_option("DIR", options.directories,
                 "outpath or run directory, several with --tidy; default: the current directory");
  options.choice.declare_ids(app);
  declare_update(app, options.update, update_of_results);
  app.get_option("--tag")->description(
      "with -u: tags for that file, in addition to those of the run; otherwise: only runs with one "
      "of these tags");
  app.add_option("-n,--num", options.newest, "only the newest N runs; without -i: of all runs")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
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

bool has_one_of(const setup::Run& run, const std::vector<std::string>& tags) {
  const auto stored = split_names(run.metadata.tags);
  return std::any_of(tags.begin(), tags.end(), [&](const std::string& tag) {
    return std::find(stored.begin(), stored.end(), tag) != stored.end();
  });
}

std::vector<RunDirectory> chosen_runs(const std::string& directory, const ResultOptions& options) {
  std::vector<std::string> ids = options.choice.ids;
  if (options.newest > 0 && ids.empty() && !workspace::is_run(directory))
    ids = {"all"};
  std::vector<RunDirectory> runs = workspace::select_runs(directory, ids);
  if (!options.update.tags.empty() && options.update.file.empty())
    std::erase_if(runs, [&](const RunDirectory& run) {
      auto workspace = workspace::Workspace::open(run.path, workspace::Workspace::Access::read);
      return !has_one_of(setup::load_run(run, workspace), options.update.tags);
    });
  if (runs.empty())
    throw Error(
        fmt::format("none of these runs has any of the tags {}", join(options.update.tags, ", ")),
        "`bench info` shows the tags of each run");
  if (options.newest > 0 && runs.size() > options.newest)
    runs.erase(runs.begin(), runs.end() - static_cast<std::ptrdiff_t>(options.newest));
  return runs;
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
  return evaluate(directory, options.update, options.analyse, found);
}

/// @returns whether everything succeeded
bool show_tables(const std::string& directory, const ResultOptions& options) {
  std::optional<PublishedComparison> comparison;
  if (options.reference)
    comparison.emplace(*options.reference);
  std::vector<Evaluated> runs;
  std::set<std::string> names;
  for (const RunDirectory& run : chosen_runs(directory, options)) {
    runs.push_back(evaluate_logged(run, options, Found::in_rows));
    for (std::string& name : tabulate::result_names(runs.back().run.benchmark))
      names.insert(std::move(name));
  }
  check_names(options.tables, names);
  Failures failures;
  std::vector<RunReport> reports;
  for (Evaluated& one : runs)
    reports.push_back(
        {.id = one.run.directory.id, .report = report_of(one, options, comparison, failures)});
  failures.attempt([&] {
    if (comparison)
      comparison->check_any();
    show_and_save(runs, reports, options, failures);
  });
  return !tell_failures(failures);
}

/// The outpath of a directory, which may be a run itself, as the user wrote it.
std::string outpath_of(const std::string& directory) {
  const std::filesystem::path path = directory;
  return ((workspace::is_run(path) ? path / ".." : path) / "")
      .lexically_normal()
      .parent_path()
      .string();
}

void show_tidy(const std::vector<std::string>& directories, const ResultOptions& options) {
  std::vector<Evaluated> runs;
  std::vector<std::string> outpaths;
  std::set<std::filesystem::path> known;
  for (const std::string& directory : directories)
    for (const RunDirectory& run : chosen_runs(directory, options)) {
      if (!known.insert(std::filesystem::canonical(run.path)).second)
        continue;
      runs.push_back(evaluate_logged(run, options, Found::in_workpackages));
      outpaths.push_back(outpath_of(directory));
    }
  std::vector<tabulate::TidyRun> all;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const std::size_t at = options.show.descending ? runs.size() - 1 - k : k;
    all.push_back({runs[at].run, runs[at].workspace, runs[at].analyses,
                   directories.size() > 1 ? outpaths[at] : ""});
  }
  show(tabulate::tidy(all).table, "csv", options.show);
}

int show_results(ResultOptions options) {
  if (options.directories.empty())
    options.directories = {"."};
  if (options.show.style.empty())
    options.show.style = result::style_of_file(options.show.file);
  if (options.tidy) {
    show_tidy(options.directories, options);
    return 0;
  }
  if (options.directories.size() > 1)
    throw Error("several directories were given", "--tidy makes one table of them");
  return show_tables(options.directories.front(), options) ? 0 : failure;
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
