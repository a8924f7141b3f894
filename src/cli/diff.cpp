#include "choose.hpp"
#include "command.hpp"
#include "evaluation.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/cli/output/difference_text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/difference.hpp>
#include <bench/results/table.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {
namespace {

using workspace::RunDirectory;

struct DiffOptions {
  std::vector<std::string> directories;
  std::vector<std::string> ids;
  std::string style;
  double tolerance_percent = 0;
  bool all = false;
  bool exit_code = false;
};

[[noreturn]] void refuse_number(std::size_t runs) {
  throw Error(fmt::format("cannot compare {}: diff needs two", plural(runs, "run")),
              "`bench diff RUN_A RUN_B`, or `bench diff DIR -i 0 1`");
}

/// The last run of each of two directories, or two runs of one: the last ones without `-i`.
std::vector<RunDirectory> two_runs(const DiffOptions& options) {
  std::vector<RunDirectory> runs;
  if (options.directories.size() == 2) {
    refuse_ids_of_two(options.ids, "diff");
    for (const std::string& directory : options.directories)
      runs.push_back(workspace::select_runs(directory, {}).front());
    return runs;
  }
  if (options.directories.size() > 2)
    refuse_number(options.directories.size());
  const std::string directory = options.directories.empty() ? "." : options.directories.front();
  runs = compared_runs(directory, options.ids);
  if (runs.size() != 2)
    refuse_number(runs.size());
  return runs;
}

int show_differences(const DiffOptions& options) {
  const std::vector<RunDirectory> runs = two_runs(options);
  const Evaluated a = evaluate(runs[0], {}, false);
  const Evaluated b = evaluate(runs[1], {}, false);
  const inspect::Differences differences =
      inspect::differences({a.run, a.workspace, a.analyses}, {b.run, b.workspace, b.analyses},
                           options.tolerance_percent / 100);
  if (options.style.empty())
    print(difference_text(differences, {description_of(a), description_of(b)}, options.all));
  else
    print(result::render(difference_table(differences), options.style));
  return options.exit_code && differences.any() ? failure : 0;
}

}  // namespace

std::function<int()> declare_diff(CLI::App& app) {
  const auto options = std::make_shared<DiffOptions>();
  app.add_option("DIR", options->directories,
                 "two run directories, or two outpaths (the last run of each), or one outpath (its "
                 "last two runs)");
  app.add_option("-i,--id", options->ids, "with one outpath: compare these two runs")
      ->type_name("ID");
  declare_style(app, options->style, "print all differences as one table");
  app.add_option("--tolerance", options->tolerance_percent,
                 "hide metrics that differ by this much or less")
      ->type_name("PERCENT")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--all", options->all, "show every difference, not only the largest");
  app.add_flag("--exit-code", options->exit_code,
               "exit with code 1 if anything except the provenance differs");
  return [options] { return show_differences(*options); };
}

}  // namespace bench::cli
