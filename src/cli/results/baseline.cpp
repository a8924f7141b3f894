#include "../command.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/evaluation/evaluation.hpp>
#include <bench/cli/output/baseline_text.hpp>
#include <bench/cli/output/comparison_text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/engine/accept.hpp>
#include <bench/inspect/baseline.hpp>
#include <bench/inspect/run_comparison.hpp>
#include <bench/result/table.hpp>
#include <bench/scheduler/run_status.hpp>
#include <bench/setup/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {
namespace {

using workspace::RunDirectory;
using workspace::Workspace;

std::filesystem::path directory_of_runs(const std::string& directory) {
  return workspace::is_run(directory) ? std::filesystem::absolute(directory).parent_path()
                                      : std::filesystem::path(directory);
}

int accept_runs(const RunChoice& choice, bool accepted) {
  for (const RunDirectory& directory : choice.runs()) {
    if (!accepted) {
      engine::revoke(directory);
      print(fmt::format("run {}: no longer accepted\n", directory.id));
      continue;
    }
    const engine::Acceptance acceptance = engine::accept(directory);
    print(fmt::format("run {}: accepted, fingerprint {}\n", directory.id, acceptance.fingerprint));
    if (acceptance.failed > 0)
      tell(fmt::format("note: {} of run {} failed and will not count",
                       plural(acceptance.failed, "workpackage"), directory.id));
  }
  return 0;
}

struct BaselineCheckOptions {
  RunChoice choice;
  std::size_t last = 5;
  std::vector<std::string> across;
  std::vector<std::string> metrics;
  double margin_percent = 1;
  std::string style;
};

int show_check(const BaselineCheckOptions& options, const std::vector<RunDirectory>& accepted,
               const RunDirectory& checked) {
  EvaluatedRuns runs;
  const double margin = options.margin_percent / 100;
  const inspect::RunComparison comparison =
      inspect::compare_runs({runs.sides(accepted)}, {runs.sides({checked})},
                            {.margin = margin,
                             .metrics = {options.metrics.begin(), options.metrics.end()},
                             .across = inspect::parameters_of(options.across)});
  const inspect::BaselineCheck check = inspect::check_of(comparison, margin);
  if (options.style.empty())
    print(comparison_text(comparison, {baseline_name(accepted), description_of(runs.read(checked))},
                          margin) +
          outcome_text(check, margin));
  else
    print(result::render(comparison_table(comparison), options.style));
  return check.outcome == inspect::CheckOutcome::passed   ? 0
         : check.outcome == inspect::CheckOutcome::failed ? failure
                                                          : undecided;
}

void require_known(const std::vector<std::string>& across, const Workspace& workspace) {
  const auto workpackages = workspace.workpackages();
  for (const std::string& name : inspect::parameters_of(across))
    if (std::ranges::none_of(workpackages, [&](const auto& one) {
          return workspace::value_of(one.parameters, name) != nullptr;
        }))
      throw Error(fmt::format("--across: the run has no parameter '{}', and it is no fact", name),
                  suggestion(name, inspect::fingerprint_names(), "facts: "));
}

int check_run(const BaselineCheckOptions& options) {
  const std::vector<RunDirectory> chosen = options.choice.runs();
  if (chosen.size() != 1)
    throw Error(fmt::format("cannot check {} at once", plural(chosen.size(), "run")),
                "choose one with `-i ID`");
  const RunDirectory& directory = chosen.front();
  auto workspace = Workspace::open(directory.path, Workspace::Access::read);
  const setup::Run run = setup::load_run(directory, workspace);
  if (!scheduler::status_if_finished(run, workspace)) {
    tell(fmt::format("undecided: run {} has not finished\nhint: `bench continue {}`", directory.id,
                     target_of(run)));
    return undecided;
  }
  require_known(options.across, workspace);
  const std::filesystem::path outpath = directory_of_runs(options.choice.directory);
  const inspect::Baseline baseline = inspect::baseline_of(
      run.metadata, inspect::known_runs(outpath),
      {.last = options.last, .across = {options.across.begin(), options.across.end()}});
  if (baseline.runs.empty()) {
    tell(no_baseline_text(baseline, short_path(outpath), directory.id));
    return undecided;
  }
  return show_check(options, baseline.runs, directory);
}

std::function<int()> declare_check_of_run(CLI::App& app) {
  const auto options = std::make_shared<BaselineCheckOptions>();
  options->choice.declare(app);
  app.add_option("--last", options->last, "compare with the last K accepted runs")
      ->type_name("K")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--across", options->across,
                 "facts of the fingerprint, and parameters, that may differ from run to run")
      ->type_name("NAME");
  app.add_option("--metric", options->metrics, "only these metrics")->type_name("NAME");
  declare_margin(app, options->margin_percent);
  declare_style(app, options->style, "print one table for programs");
  return [options] { return check_run(*options); };
}

}  // namespace

std::function<int()> declare_baseline(CLI::App& app) {
  const auto add = [&](const char* name, const char* summary) {
    CLI::App* action = app.add_subcommand(name, summary);
    action->fallthrough();
    return action;
  };
  const auto choice = std::make_shared<RunChoice>();
  CLI::App* accepting = add("accept", "runs have good numbers: compare later ones with them");
  choice->declare(*accepting);
  CLI::App* revoking = add("revoke", "runs are no longer accepted");
  choice->declare(*revoking);
  CLI::App* listing = add("list", "list the accepted runs");
  choice->declare_directory(*listing);
  CLI::App* checking =
      add("check", "check a run: exit code 0: passed, 1: slower or worse, 3: undecided");
  const std::function<int()> run_check = declare_check_of_run(*checking);
  app.require_subcommand(1);
  return [=] {
    if (checking->parsed())
      return run_check();
    if (listing->parsed()) {
      const std::filesystem::path outpath = directory_of_runs(choice->directory);
      print(accepted_text(inspect::known_runs(outpath), short_path(outpath)));
      return 0;
    }
    return accept_runs(*choice, accepting->parsed());
  };
}

}  // namespace bench::cli
