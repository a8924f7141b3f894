#include "command.hpp"
#include "evaluation.hpp"
#include "runs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/host.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/past_runs.hpp>
#include <bench/insight/plan.hpp>
#include <bench/insight/work.hpp>
#include <bench/machine/platform.hpp>
#include <bench/results/table.hpp>
#include <bench/run/input_check.hpp>
#include <bench/run/preview.hpp>
#include <bench/space/input.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {
namespace {

namespace fs = std::filesystem;
using workspace::RunDirectory;

struct PlanOptions {
  std::string file;
  InputChoice input;
  std::vector<std::string> history;
  std::string budget;
  std::string costs;
  std::string check;
  std::string style;
  double efficiency_percent = 100 * insight::default_efficiency;
};

/// Criteria by which the times of a run apply to the planned one.
struct Likeness {
  std::string benchmark;
  std::string platform;
  std::string host;  ///< Empty: any, since the platform's jobs run on identical nodes.
};

Likeness likeness_of(const space::Run& run, const machine::Platform& platform,
                     const std::string& host) {
  return {run.benchmark.name, platform.name, platform.capabilities().queues_jobs ? "" : host};
}

bool is_alike(const Evaluated& one, const Likeness& like) {
  const auto& provenance = one.run.metadata.provenance;
  const auto host = provenance.find("host");
  return one.run.benchmark.name == like.benchmark && one.run.metadata.platform == like.platform &&
         (like.host.empty() || (host != provenance.end() && host->second == like.host));
}

/// The distinct runs of an outpath and of the directories of `--history`.
std::vector<RunDirectory> runs_below(const fs::path& outpath,
                                     const std::vector<std::string>& further) {
  std::vector<fs::path> directories{outpath};
  for (const std::string& directory : further) {
    if (!fs::is_directory(directory))
      throw Error(Id::usage, fmt::format("--history names {}, which is not a directory", directory),
                  "name an outpath or a run directory");
    directories.emplace_back(directory);
  }
  std::vector<RunDirectory> runs;
  for (const fs::path& directory : directories)
    std::ranges::move(workspace::is_run(directory) ? workspace::select_runs(directory, {})
                                                   : workspace::find_runs(directory),
                      std::back_inserter(runs));
  return distinct(runs);
}

/// Runs of one outpath are ordered by id, also where the clock was set in between.
bool began_before(const space::Run& run, const space::Run& other) {
  if (fs::equivalent(run.directory.path.parent_path(), other.directory.path.parent_path()))
    return run.directory.id < other.directory.id;
  return run.metadata.started_unix_s < other.metadata.started_unix_s;
}

/// Other users' runs may be unreadable.
bool may_read(const RunDirectory& run) {
  return ::access((run.path / "workspace.db").c_str(), R_OK) == 0 || errno != EACCES;
}

/// @param until excludes this run and those that began later; null: none
insight::History history_of(const std::vector<RunDirectory>& directories, const Likeness& like,
                            EvaluatedRuns& runs, const space::Run* until) {
  allow_many_open_runs();
  insight::History history;
  std::size_t used = 0;
  std::size_t other = 0;
  std::size_t unreadable = 0;
  for (const RunDirectory& directory : directories) {
    if (workspace::is_made_by_jube(directory.path))
      continue;
    if (!may_read(directory)) {
      ++unreadable;
      continue;
    }
    const Evaluated* one = runs.read_if_sound(directory);
    if (!one || (until && !began_before(one->run, *until)))
      continue;
    if (is_alike(*one, like)) {
      history.add(insight::observations_of(one->run, one->workspace, one->analyses));
      ++used;
    } else {
      ++other;
    }
  }
  tell(fmt::format(
      "note: history: {} of benchmark {} on platform {}{}{}{}", plural(used, "run"), like.benchmark,
      like.platform, like.host.empty() ? "" : ", host " + like.host,
      other > 0 ? fmt::format("; {} of others not used", plural(other, "run")) : "",
      unreadable > 0 ? fmt::format("; you may not read {}", plural(unreadable, "run")) : ""));
  return history;
}

/// Shows progress, since LibTorch takes a second to start for each distinct call of a step program.
/// @param program empty: erases the line
void show_asking(const std::string& program, std::size_t number) {
  if (number > 0)
    draw_over(program.empty() ? ""
                              : fmt::format("asking {} for its work (call {})", program, number));
}

bool is_for_programs(const std::string& style) {
  return !style.empty() && results::style_of(style).is_for_programs;
}

void show(const results::Table& table, const std::string& style) {
  const auto columns = terminal_columns();
  if (style.empty() && columns && results::pretty_width(table) > *columns)
    print(results::render_vertical(table));
  else
    print(results::render(table, style.empty() ? "pretty" : style));
}

/// Cost of an energy.
std::string cost_text(double energy_wh, const insight::CostFactors& factors) {
  const double kwh = energy_wh / 1000 * factors.pue;
  std::string text;
  if (factors.price)
    text += fmt::format(", {:.3g}{}{}", kwh * *factors.price, factors.currency.empty() ? "" : " ",
                        factors.currency);
  if (factors.intensity)
    text += fmt::format(", {:.3g} g CO2", kwh * *factors.intensity);
  return text + fmt::format(" (PUE {:g})", factors.pue);
}

/// Totals and what they leave out. A total of unknown values only is not shown.
std::string total_text(const insight::Total& total,
                       const std::optional<insight::CostFactors>& factors) {
  std::string text = "total: " + plural(total.workpackages, "workpackage");
  std::string left_out;
  const auto add = [&](std::size_t without, const std::string& sum, const char* unknown,
                       const char* at_least) {
    text += ", " + (without < total.workpackages ? sum : std::string(unknown));
    if (without > 0 && without < total.workpackages)
      left_out += fmt::format("{} {}\n", plural(without, "workpackage"), at_least);
  };
  if (total.workpackages > 0) {
    add(total.without_time, fmt::format("{:.3g} node hours", total.node_hours),
        "node hours unknown", "without an expected time: the node hours are a lower bound");
    add(total.without_energy,
        fmt::format("{:.3g} kWh", total.energy_wh / 1000) +
            (factors ? cost_text(total.energy_wh, *factors) : ""),
        "energy unknown", "without an expected energy: the energy is a lower bound");
  }
  text += "\n" + left_out;
  if (total.cannot_fit > 0)
    text +=
        fmt::format("{} cannot fit into memory and {} not in the totals\n",
                    plural(total.cannot_fit, "workpackage"), total.cannot_fit == 1 ? "is" : "are");
  return text;
}

void plan_benchmark(const PlanOptions& options, const space::Input& input,
                    const model::Benchmark& benchmark, const space::Request& request) {
  space::Run run = space::plan_run(input, benchmark, request);
  // Parsed first, so that errors come before the work.
  std::optional<insight::Budget> budget;
  if (!options.budget.empty())
    budget = insight::parse_budget(options.budget, run.platform);
  std::optional<insight::CostFactors> factors;
  if (!options.costs.empty())
    factors = insight::read_cost_factors(options.costs);
  Diagnostics diagnostics = telling_diagnostics();
  std::vector<std::string> notices;
  const auto previews = run::preview(run, diagnostics, notices, true);
  for (const std::string& notice : notices)
    tell("note: " + notice);
  EvaluatedRuns runs;
  const insight::History history =
      history_of(runs_below(run.directory.path.parent_path(), options.history),
                 likeness_of(run, run.platform, host_name()), runs, nullptr);
  std::size_t asked = 0;
  const auto points =
      insight::plan_points(run, previews, history, options.efficiency_percent / 100,
                           [&asked](const std::string& program) { show_asking(program, ++asked); });
  show_asking("", asked);
  const bool for_programs = is_for_programs(options.style);
  show(insight::table_of(points, for_programs), options.style);
  if (for_programs) {
    if (budget || factors)
      tell(fmt::format("note: style {} shows neither totals nor the budget", options.style));
    return;
  }
  print(total_text(insight::total_of(points), factors));
  if (!budget)
    return;
  const insight::Affordable fitting = insight::affordable(points, *budget);
  print(fitting.stop.empty()
            ? fmt::format("a budget of {} covers the whole plan\n", budget->text)
            : fmt::format("a budget of {} covers the first {}: {}\n", budget->text,
                          plural(fitting.workpackages, "workpackage"), fitting.stop));
}

int plan_file(const PlanOptions& options) {
  const space::Request request = options.input.request_for(options.file);
  Diagnostics diagnostics = telling_diagnostics(false, true);
  const space::Input input = space::read_input(request, diagnostics);
  run::check_input(input, diagnostics);
  for (const model::Benchmark& benchmark : input.benchmarks)
    plan_benchmark(options, input, benchmark, request);
  return 0;
}

std::string error_text(const std::string& what, const insight::PlanError& error) {
  if (error.points == 0)
    return fmt::format("{}: not measured\n", what);
  if (error.planned == 0)
    return fmt::format("{}: no point could be planned before the run\n", what);
  return fmt::format("{}: median error {:.1f} %, largest {:.1f} %, of {} of {}\n", what,
                     100 * error.median, 100 * error.largest, error.planned,
                     plural(error.points, "point"));
}

int check_plan(const PlanOptions& options) {
  EvaluatedRuns runs;
  const std::vector<RunDirectory> chosen = workspace::select_runs(options.check, {});
  const Evaluated& made = runs.read(chosen.back());
  const machine::Platform platform = space::platform_of(made.run);
  const auto host = made.run.metadata.provenance.find("host");
  const insight::History history =
      history_of(runs_below(made.run.directory.path.parent_path(), options.history),
                 likeness_of(made.run, platform,
                             host == made.run.metadata.provenance.end() ? "" : host->second),
                 runs, &made.run);
  const auto points = insight::check_points(
      insight::observations_of(made.run, made.workspace, made.analyses), history);
  const bool for_programs = is_for_programs(options.style);
  show(insight::table_of(points, for_programs), options.style);
  if (for_programs)
    return 0;
  print(error_text("time", insight::error_of_time(points)) +
        error_text("energy", insight::error_of_energy(points)));
  if (const auto disturbed = std::ranges::count_if(points, &insight::CheckedPoint::disturbed))
    print(fmt::format("{} measured while the machine was not quiet\n",
                      disturbed == 1 ? "1 point was" : fmt::format("{} points were", disturbed)));
  return 0;
}

}  // namespace

std::function<int()> declare_plan(CLI::App& app) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::Option* const file =
      app.add_option("FILE", options->file, "input file, or a directory that `bench export` wrote");
  options->input.declare(app);
  app.add_option("--history", options->history,
                 "outpaths or runs to learn from, besides those below the outpath")
      ->type_name("DIR");
  app.add_option("--budget", options->budget,
                 "show how much of the plan this budget covers: 50nh (node hours), 500Wh, 2kWh")
      ->type_name("BUDGET");
  app.add_option("--costs", options->costs, "file with price, PUE and CO2 factors")
      ->type_name("FILE");
  app.add_option("--efficiency", options->efficiency_percent,
                 "share of the peak performance to assume if nothing was measured, in percent")
      ->type_name("PERCENT")
      ->check(CLI::Range(0.1, 100.0))
      ->capture_default_str();
  CLI::Option* const check =
      app.add_option(
             "--check", options->check,
             "instead of FILE: compare this run with its plan, made from the runs before it")
          ->type_name("RUN")
          ->excludes(file);
  for (const char* of_file : {"--tag", "--include-path", "--outpath", "--platform", "--budget",
                              "--costs", "--efficiency"})
    check->excludes(of_file);
  declare_style(app, options->style, "print the table in this style");
  return [options, file, check] {
    if (check->count() > 0)
      return check_plan(*options);
    if (file->count() == 0)
      throw Error(Id::usage, "nothing to plan", "`bench plan FILE`, or `bench plan --check RUN`");
    return plan_file(*options);
  };
}

}  // namespace bench::cli
