#include "command.hpp"
#include "each.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/cli/output/information.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/run_state.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {
namespace {

using workspace::Workspace;
using Access = Workspace::Access;

struct InfoOptions {
  RunChoice choice;
  std::vector<std::string> steps;
  std::vector<long long> workpackages;
  std::string separator = ",";
  bool parameters = false;
  // Whether the option was given, with or without values.
  bool of_steps = false;
  bool of_workpackages = false;
  bool csv = false;
};

std::vector<std::string> overview_row(const workspace::RunDirectory& run) {
  const Workspace workspace = Workspace::open(run.path, Access::read);
  return {std::to_string(run.id),
          workspace.fact("benchmark"),
          inspect::started(workspace),
          inspect::last_change(workspace),
          workspace.fact("comment"),
          workspace.fact("tags"),
          std::string(name_of(inspect::run_state(run, workspace.counts())))};
}

int show_overview(const std::string& directory) {
  const std::vector<workspace::RunDirectory> runs = workspace::select_runs(directory, {"all"});
  std::vector<std::vector<std::string>> rows;
  for (const workspace::RunDirectory& run : runs)
    if (runs.size() == 1)
      rows.push_back(overview_row(run));
    else
      skip_if_unsound(run, [&] { rows.push_back(overview_row(run)); });
  print(text_table({"id", "name", "started", "last change", "comment", "tags", "status"}, rows));
  return rows.empty() ? failure : 0;
}

void show_steps(const setup::Run& run, const inspect::RunView& view, const InfoOptions& options) {
  std::vector<std::string> steps = options.steps;
  if (steps.empty())
    for (const model::Step& step : run.benchmark.steps)
      steps.push_back(step.name);
  for (const std::string& step : steps) {
    check_step(run, step);
    print(options.csv ? step_csv(view, step, options.separator)
                      : step_information(run, view, step, options.parameters) + "\n");
  }
}

void show_workpackages(const setup::Run& run, const inspect::RunView& view,
                       const Workspace& workspace, const InfoOptions& options) {
  std::vector<long long> ids = options.workpackages;
  if (ids.empty())
    for (const workspace::Workpackage& workpackage : view.all())
      ids.push_back(workpackage.id);
  for (const long long id : ids)
    print(workpackage_information(view, run, workspace, id) + "\n");
}

void show(const workspace::RunDirectory& directory, const InfoOptions& options) {
  Workspace workspace = Workspace::open(directory.path, Access::read);
  const setup::Run run = setup::load_run(directory, workspace);
  if (!options.of_steps && !options.of_workpackages && !options.csv) {
    print(run_information(run, workspace));
    return;
  }
  const inspect::RunView view(run, workspace);
  if (options.of_steps || options.csv)
    show_steps(run, view, options);
  if (options.of_workpackages)
    show_workpackages(run, view, workspace, options);
}

}  // namespace

std::function<int()> declare_info(CLI::App& app) {
  const auto options = std::make_shared<InfoOptions>();
  options->choice.declare(app);
  constexpr int any_number = CLI::detail::expected_max_vector_size;
  CLI::Option* steps =
      app.add_option("-s,--step", options->steps, "these steps and their workpackages, or all")
          ->type_name("STEP")
          ->expected(0, any_number);
  app.add_flag("-p,--parametrization", options->parameters,
               "with -s: the parameters of each workpackage, one per line");
  CLI::Option* csv = app.add_option("-c,--csv-parametrization", options->separator,
                                    "with -s: the parameters as csv, with this separator")
                         ->type_name("SEP")
                         ->expected(0, 1);
  CLI::Option* workpackages =
      app.add_option("-w,--workpackage", options->workpackages, "these workpackages, or all")
          ->type_name("ID")
          ->expected(0, any_number);
  return [options, steps, csv, workpackages] {
    // An option without values gives an empty text.
    std::erase(options->steps, "");
    options->of_steps = steps->count() > 0;
    options->of_workpackages = workpackages->count() > 0;
    options->csv = csv->count() > 0;
    if (options->separator.empty())
      options->separator = ",";
    const bool overview = options->choice.ids.empty() && !options->of_steps &&
                          !options->of_workpackages && !options->csv;
    if (overview)
      return show_overview(options->choice.directory);
    return act_on_each(options->choice.runs(), [&](const workspace::RunDirectory& run) {
      show(run, *options);
      return 0;
    });
  };
}

}  // namespace bench::cli
