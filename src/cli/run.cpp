#include "command.hpp"
#include "work.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/chained_steps.hpp>
#include <bench/run/cost.hpp>
#include <bench/run/input_check.hpp>
#include <bench/run/make_run.hpp>
#include <bench/run/preflight.hpp>
#include <bench/run/preview.hpp>
#include <bench/space/input.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/run.hpp>

namespace bench::cli {
namespace {

using run::StepCost;

/// @param workpackages how many have these parameters
std::string describe(const run::Preview& one, std::size_t workpackages) {
  std::string text = fmt::format(
      "{}  {}{}\n", one.workpackage.directory, parameters_text(one.workpackage.parameters),
      workpackages > 1 ? fmt::format(" ({} workpackages)", workpackages) : "");
  for (const std::string& command : one.commands)
    text += "    $ " + replace_all(command, "\n", "\n      ") + "\n";
  if (!one.script.empty())
    text += "    job script:\n    | " +
            replace_all(std::string(strip(one.script)), "\n", "\n    | ") + "\n";
  return text;
}

std::string nodes_text(const StepCost& cost) {
  if (cost.least_nodes == cost.most_nodes)
    return std::to_string(cost.most_nodes);
  return fmt::format("{} to {}", cost.least_nodes, cost.most_nodes);
}

std::string limit_text(const StepCost& cost) {
  if (cost.longest_s == 0)
    return "none";
  return (cost.unlimited ? "none, " : "") + human_duration(cost.longest_s);
}

/// `1.5`, `20000`: node hours, to three digits where there are no more before the point.
std::string hours_text(double hours) {
  return fmt::format("{:.{}f}", hours, hours >= 100 ? 0 : hours >= 10 ? 1 : 2);
}

std::string at_once_text(int at_once) {
  return at_once == 0 ? "no limit" : std::to_string(at_once);
}

/// @param at_once of each step, how many of its workpackages run at a time
std::string costs_text(const std::vector<StepCost>& costs,
                       const std::map<std::string, int>& at_once) {
  std::vector<std::vector<std::string>> rows;
  StepCost sum{.step = "all"};
  for (const StepCost& cost : costs) {
    const bool here = cost.jobs == 0;
    const auto known = at_once.find(cost.step);
    rows.push_back({cost.step, std::to_string(cost.workpackages),
                    known == at_once.end() ? "" : at_once_text(known->second),
                    here ? "" : std::to_string(cost.jobs), here ? "" : nodes_text(cost),
                    here ? "" : limit_text(cost),
                    here             ? ""
                    : cost.unlimited ? "?"
                                     : hours_text(cost.node_hours)});
    sum.workpackages += cost.workpackages;
    sum.jobs += cost.jobs;
    sum.unlimited = sum.unlimited || cost.unlimited;
    sum.node_hours += cost.node_hours;
  }
  std::vector<std::string> headings{"step", "workpackages", "at a time"};
  if (sum.jobs > 0) {
    rows.push_back({sum.step, std::to_string(sum.workpackages), "", std::to_string(sum.jobs), "",
                    "", sum.unlimited ? "?" : hours_text(sum.node_hours)});
    headings.insert(headings.end(), {"jobs", "nodes each", "time limit", "node hours at most"});
  } else {
    for (auto& row : rows)
      row.resize(headings.size());
  }
  return text_table(headings, rows);
}

/// The workpackages of one step that show what it does: all, or the first of the first
/// combinations.
std::string step_text(const StepCost& cost, const std::vector<run::Preview>& previews, bool all) {
  constexpr std::size_t most = 5;
  std::map<long long, std::size_t> workpackages;  // by combination
  for (const run::Preview& one : previews)
    if (one.workpackage.step == cost.step)
      ++workpackages[one.workpackage.combination];
  std::string text;
  std::set<long long> shown;
  for (const run::Preview& one : previews) {
    if (one.workpackage.step != cost.step)
      continue;
    const long long combination = one.workpackage.combination;
    if (all)
      text += describe(one, 1);
    else if (shown.size() < most && shown.insert(combination).second)
      text += describe(one, workpackages.at(combination));
  }
  if (!all && workpackages.size() > most)
    text += fmt::format("and {} more of step {}; --all shows them\n", workpackages.size() - most,
                        cost.step);
  return text;
}

/// What a run would do: what each step takes, then its workpackages with what they execute.
/// @param all every workpackage; else the first combinations of each step, and the count of the
///        others
std::string preview_text(const space::Run& run, const std::vector<run::Preview>& previews,
                         bool all) {
  std::map<std::string, int> at_once;
  for (const run::Preview& one : previews)
    at_once[one.workpackage.step] = one.at_once;
  const std::vector<StepCost> costs = run::costs_of(run, previews);
  std::string text = costs_text(costs, at_once) + "\n";
  for (const StepCost& cost : costs)
    text += step_text(cost, previews, all);
  return text + fmt::format("\nplatform {}; would run in {}; nothing was created or started\n",
                            run.platform.name, short_path(run.directory.path));
}

struct RunOptions {
  std::vector<std::string> files;
  InputChoice input;
  std::vector<int> ids;  ///< Of the runs to come, in order; the others get the next free one.
  bool dry_run = false;
  bool all = false;  ///< Of a dry run: every workpackage.
  WorkOptions work;
};

void tell_notices(const std::vector<std::string>& notices) {
  for (const std::string& notice : notices)
    tell(notice.starts_with("warning: ") ? notice : "note: " + notice);
}

void show_preview(space::Run& run, bool all, Diagnostics& diagnostics) {
  std::vector<std::string> notices;
  const auto previews = run::preview(run, diagnostics, notices);
  tell_notices(notices);
  print(preview_text(run, previews, all));
  run::check_budget(run, run::costs_of(run, previews));
}

/// Says which options nothing in the benchmark uses.
void tell_idle_options(const space::Request& request, const space::Run& run) {
  std::vector<std::string> notices;
  run::notice_options(run, request.asking, notices);
  const auto none = [&](auto has) { return std::ranges::none_of(run.benchmark.steps, has); };
  if (request.launcher && none([](const model::Step& step) { return step.batch.has_value(); }))
    notices.emplace_back("--launcher has no effect: no step has `batch`");
  if (!request.power_source.empty() &&
      none([](const model::Step& step) { return step.energy.has_value(); }))
    notices.emplace_back("--power-source has no effect: no step has `energy`");
  tell_notices(notices);
}

int run_benchmark(const RunOptions& options, const space::Input& input,
                  const model::Benchmark& benchmark, const space::Request& request) {
  space::Run run = space::plan_run(input, benchmark, request);
  Diagnostics diagnostics = telling_diagnostics(options.work.strict);
  space::check_templates(run, diagnostics);
  tell_idle_options(options.input.request, run);
  if (options.work.chain) {
    std::vector<std::string> of_chain;
    run::chain_steps(run, of_chain);
    tell_notices(of_chain);
  }
  if (options.dry_run) {
    show_preview(run, options.all, diagnostics);
    return 0;
  }
  std::vector<std::string> notices;
  if (!options.work.budget.empty())
    run::check_budget(run, run::costs_of(run, run::preview(run, diagnostics, notices)));
  run::preflight(run, notices);
  run::NewRun made = run::make_run(run, request, diagnostics, notices);
  tell_notices(notices);
  command_log().write_parse_log(run.directory.path);
  return work_on(run, made.workspace, options.work, "run");
}

/// An input file that has been read.
struct InputFile {
  space::Request request;
  space::Input input;
  std::string parse_log;
  std::vector<Warning> mistakes;  ///< Those that did not stop the run.
};

InputFile read_input_file(const RunOptions& options, const std::string& file) {
  space::Request request = options.input.request_for(file);
  command_log().begin_parsing();
  Diagnostics diagnostics = telling_diagnostics(options.work.strict, !options.work.lenient);
  space::Input input = space::read_input(request, diagnostics);
  run::check_input(input, diagnostics);
  return {std::move(request), std::move(input), command_log().parsed(), diagnostics.mistakes()};
}

/// @param ids those that no earlier benchmark has taken; the first ones are taken off
int run_file(const RunOptions& options, InputFile& file, std::vector<int>& ids) {
  command_log().begin_parsing(file.parse_log);
  int worst = 0;
  for (const model::Benchmark& benchmark : file.input.benchmarks) {
    file.request.id.reset();
    if (!ids.empty()) {
      file.request.id = ids.front();
      ids.erase(ids.begin());
    }
    worst = std::max(worst, run_benchmark(options, file.input, benchmark, file.request));
    if (ends_all(worst, options.work))
      break;
  }
  if (options.work.result && !options.dry_run)
    tell_again(file.mistakes);
  return worst;
}

int run_files(RunOptions& options) {
  std::vector<int> ids = options.ids;
  for (const int id : ids)
    if (id < 0)
      throw Error(Id::usage, fmt::format("invalid run id {}", id),
                  "ids start at 0; omit -i to use the next free one");
  set_verbosity(options.work);
  // A mistake in the last file is found before the first one runs.
  std::vector<InputFile> files;
  for (const std::string& file : options.files)
    files.push_back(read_input_file(options, file));
  int worst = 0;
  for (InputFile& file : files) {
    worst = std::max(worst, run_file(options, file, ids));
    if (ends_all(worst, options.work))
      return worst;
  }
  if (!ids.empty())
    tell(fmt::format("note: id {} is unused: there are fewer benchmarks than ids", ids.front()));
  return worst;
}

}  // namespace

std::function<int()> declare_run(CLI::App& app) {
  const auto options = std::make_shared<RunOptions>();
  space::Request& request = options->input.request;
  app.add_option("FILE", options->files, "input files, or directories that `bench export` wrote")
      ->required();
  options->input.declare(app);
  app.add_option("-i,--id", options->ids, "ids of the runs, in order; default: the next free ones")
      ->type_name("ID");
  app.add_option_function<std::string>(
         "-m,--comment", [&request](const std::string& text) { request.comment = text; },
         "comment that replaces the file's; '' for none")
      ->type_name("TEXT");
  app.add_option("--only-bench", request.only_benchmarks, "run only these benchmarks of the file")
      ->type_name("NAME");
  app.add_option("--not-bench", request.not_benchmarks, "run all benchmarks except these")
      ->type_name("NAME");
  app.add_option("--power-source", request.power_source,
                 "how energy is measured, for example model:cpu=65W")
      ->type_name("SOURCE");
  declare_asking(app, request.asking);
  app.add_option(
         "--launcher", request.launcher,
         "command that starts programs on all tasks ($jube_starter); overrides the platform's")
      ->type_name("COMMAND");
  app.add_option("--order-seed", request.order_seed,
                 "seed for steps with `order: random`; default: drawn, and recorded in the run")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  options->input.declare_max_workpackages(app);
  declare(app, options->work);
  app.add_flag("-n,--dry-run,--debug", options->dry_run,
               "show resources, combinations, commands and job scripts; create and start nothing");
  app.add_flag("--all", options->all,
               "with -n: show every workpackage, not only the first of each step");
  return [options] {
    options->input.request.budget = options->work.budget;
    options->input.request.parallel = options->work.parallel;
    return run_files(*options);
  };
}

}  // namespace bench::cli
