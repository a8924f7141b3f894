#include "choose.hpp"
#include "command.hpp"
#include "evaluation.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <bench/cli/output/history_text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/history.hpp>
#include <bench/space/metadata.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {
namespace {

struct HistoryCommandOptions {
  std::string metric;
  std::vector<std::string> directories;
  std::vector<std::string> across;
  std::string style;
  double margin_percent = 1;
};

int show_history(const HistoryCommandOptions& options) {
  allow_many_open_runs();
  EvaluatedRuns runs;
  std::vector<workspace::RunDirectory> directories;
  std::vector<NamedRun> names;
  for (const workspace::RunDirectory& directory : chosen_runs(options.directories, {"all"}))
    if (const Evaluated* one = runs.read_if_sound(directory)) {
      directories.push_back(directory);
      names.push_back(
          {short_path(one->run.directory.path), setup::start_for_people(one->run.metadata)});
    }
  const auto histories = inspect::history_of(
      runs.sides(directories), {.metric = options.metric,
                                .across = {options.across.begin(), options.across.end()},
                                .margin = options.margin_percent / 100});
  if (options.style.empty()) {
    print(history_text(histories, names));
    return 0;
  }
  print_table(history_table(histories, names), options.style);
  return 0;
}

}  // namespace

std::function<int()> declare_history(CLI::App& app) {
  const auto options = std::make_shared<HistoryCommandOptions>();
  app.add_option("METRIC", options->metric, "a pattern, a figure of the meter, or run_time")
      ->required();
  app.add_option("DIR", options->directories, "outpaths, whose runs are combined");
  app.add_option("--across", options->across,
                 "parameters to ignore when matching points, such as a version")
      ->type_name("NAME");
  declare_margin(app, options->margin_percent);
  declare_style(app, options->style, "print every run as a row of one table");
  return [options] { return show_history(*options); };
}

}  // namespace bench::cli
