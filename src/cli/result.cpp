#include "command.hpp"
#include "comparison.hpp"
#include "evaluation.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/log_file.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/cli/output/show.hpp>
#include <bench/setup/run.hpp>
#include <bench/tabulate/filters.hpp>
#include <bench/tabulate/report.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {
namespace {

using workspace::RunDirectory;

struct ResultOptions {
  RunChoice choice;
  UpdateOptions update;
  ShowOptions show;
  std::vector<std::string> tables;
  std::size_t newest = 0;  ///< 0: all that are chosen.
  bool analyse = false;
  std::optional<std::string> reference;  ///< None: nothing is compared.
};

void declare_options(CLI::App& app, ResultOptions& options) {
  options.choice.declare(app);
  declare_style(app, options.show.style, "style of the tables");
  app.add_flag("-a,--analyse", options.analyse, "analyse again, even if nothing has changed");
  options.update.declare(app);
  app.get_option("--tag")->description(
      "with -u: tags for that file, in addition to those of the run; otherwise: only runs with one "
      "of these tags");
  app.add_option("-o,--only", options.tables, "only the tables with these names")
      ->type_name("TABLE");
  app.add_option("--compare", options.reference,
                 "set the numbers beside published ones: a name that `bench references` lists, a "
                 ".csv file or a directory of them")
      ->type_name("REFERENCE");
  app.add_flag("-r,--reverse", options.show.descending, "with several runs: newest first");
  app.add_option("-n,--num", options.newest, "only the newest N runs; without -i: of all runs")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_flag("--raw", options.show.raw, "full values, without the columns' formats");
  app.add_option("--select", options.show.select, "show only these columns")->type_name("NAME");
  app.add_option("--exclude", options.show.exclude, "show all columns except these")
      ->type_name("NAME");
}

bool has_one_of(const setup::Run& run, const std::vector<std::string>& tags) {
  const auto stored = split_names(run.metadata.tags);
  return std::any_of(tags.begin(), tags.end(), [&](const std::string& tag) {
    return std::find(stored.begin(), stored.end(), tag) != stored.end();
  });
}

std::vector<RunDirectory> chosen_runs(const ResultOptions& options) {
  std::vector<std::string> ids = options.choice.ids;
  if (options.newest > 0 && ids.empty() && !workspace::is_run(options.choice.directory))
    ids = {"all"};
  std::vector<RunDirectory> runs = workspace::select_runs(options.choice.directory, ids);
  if (!options.update.tags.empty() && options.update.file.empty())
    std::erase_if(runs, [&](const RunDirectory& directory) {
      auto workspace =
          workspace::Workspace::open(directory.path, workspace::Workspace::Access::read);
      return !has_one_of(setup::load_run(directory, workspace), options.update.tags);
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

/// The results of one run, kept where they are the user's own and nothing is compared.
tabulate::Report report_of(Evaluated& one, const ResultOptions& options,
                           std::optional<PublishedComparison>& comparison) {
  const std::set<std::string> only(options.tables.begin(), options.tables.end());
  if (comparison)
    PublishedComparison::add_conditions(one.run.benchmark);
  Diagnostics diagnostics = telling_diagnostics();
  tabulate::Report report =
      tabulate::report(one.run, one.workspace, one.analyses, only, diagnostics,
                       one.own ? tabulate::Trust::own : tabulate::Trust::foreign);
  if (comparison)
    return comparison->compared(one, report);
  if (one.own)  // somebody else's run can be read anyway
    keep(report, options.show.style);
  return report;
}

int show_results(const ResultOptions& options) {
  std::optional<PublishedComparison> comparison;
  if (options.reference)
    comparison.emplace(*options.reference);
  std::vector<Evaluated> runs;
  std::set<std::string> names;
  for (const RunDirectory& directory : chosen_runs(options)) {
    if (workspace::is_own(directory.path))
      command_log().open(directory.path, "result");
    else
      command_log().close(0);
    runs.push_back(evaluate(directory, options.update, options.analyse));
    for (std::string& name : tabulate::result_names(runs.back().run.benchmark))
      names.insert(std::move(name));
  }
  check_names(options.tables, names);
  std::vector<RunReport> reports;
  for (Evaluated& one : runs)
    reports.push_back({.id = one.run.directory.id, .report = report_of(one, options, comparison)});
  if (comparison)
    comparison->check_any();
  show(std::move(reports), options.show);
  return 0;
}

}  // namespace

std::function<int()> declare_result(CLI::App& app) {
  const auto options = std::make_shared<ResultOptions>();
  declare_options(app, *options);
  return [options] { return show_results(*options); };
}

}  // namespace bench::cli
