#include "command.hpp"
#include "evaluation.hpp"
#include "interruption.hpp"
#include "runs.hpp"

#include <algorithm>
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

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/comparison_text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/cli/output/progress.hpp>
#include <bench/insight/baseline.hpp>
#include <bench/insight/difference.hpp>
#include <bench/insight/run_comparison.hpp>
#include <bench/run/loop.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {
namespace {

using workspace::RunDirectory;
using workspace::Workspace;

std::filesystem::path directory_of_runs(const std::string& directory) {
  return workspace::is_run(directory) ? outpath_of(directory) : std::filesystem::path(directory);
}

/// Why a run has no baseline, and what to do.
/// @param outpath with the accepted runs
/// @param run the id of the checked run
std::string no_baseline_text(const insight::Baseline& baseline, const std::string& outpath,
                             int run) {
  if (baseline.accepted == 0)
    return fmt::format(
        "undecided: no other run in {0} is accepted\n"
        "hint: if the numbers of run {1} are good: `bench baseline accept {0} -i {1}`",
        outpath, run);
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> names;
  for (const insight::TextDifference& one : baseline.differences) {
    rows.push_back({one.name, in_one_line(one.b), in_one_line(one.a)});
    names.push_back(one.name);
  }
  return fmt::format(
      "undecided: no accepted run in {0} has the fingerprint of run {1}\n{2}"
      "hint: `--across {3}` compares them anyway; `bench baseline accept {0} -i {1}` starts a new "
      "baseline",
      outpath, run,
      text_table(
          {"fact", fmt::format("accepted run {}", baseline.nearest.id), fmt::format("run {}", run)},
          rows),
      join(names, " "));
}

/// A row for each accepted run, or a line if there is none.
std::string accepted_text(const std::vector<insight::KnownRun>& runs, const std::string& outpath) {
  std::vector<std::vector<std::string>> rows;
  for (const insight::KnownRun& run : runs)
    if (run.is_accepted()) {
      const auto facts = space::shown_facts(run.metadata);
      rows.push_back({std::to_string(run.directory.id), run.metadata.benchmark, facts.at("started"),
                      facts.at("accepted"),
                      insight::short_name_of(insight::fingerprint_of(run.metadata))});
    }
  if (rows.empty())
    return fmt::format("no run in {} is accepted\n", outpath);
  return text_table({"run", "benchmark", "started", "accepted", "fingerprint"}, rows);
}

void accept_run(const RunDirectory& directory) {
  const insight::Acceptance acceptance = insight::accept(directory);
  print(fmt::format("run {}: accepted, fingerprint {}\n", directory.id, acceptance.fingerprint));
  if (acceptance.failed > 0)
    tell(fmt::format("note: {} of run {} failed and will not count",
                     plural(acceptance.failed, "workpackage"), directory.id));
  EvaluatedRuns runs;
  for (const auto& [metric, count] : insight::not_finite_values(runs.sides({directory}).front()))
    tell(
        fmt::format("warning: run {} has {} of {} that {} nan or infinite; checks of {} stay "
                    "undecided",
                    directory.id, plural(count, "value"), metric, count == 1 ? "is" : "are",
                    count == 1 ? "its point" : "their points"));
}

void revoke_run(const RunDirectory& directory) {
  insight::revoke(directory);
  print(fmt::format("run {}: no longer accepted\n", directory.id));
}

struct BaselineCheckOptions {
  RunChoice choice;
  std::size_t last = 5;
  std::vector<std::string> across;
  std::vector<std::string> metrics;
  double margin_percent = 1;
  std::size_t confirmations = 0;  ///< Runs that repeat points that are worse before they count.
  std::string style;
};

/// A run that is checked, and what it is checked against.
struct Check {
  const BaselineCheckOptions& options;
  std::vector<insight::KnownRun> known;  ///< All runs of the outpath.
  std::vector<RunDirectory> accepted;
  std::vector<RunDirectory> checked;  ///< The run, and those that repeated points of it.

  double margin() const { return options.margin_percent / 100; }
};

insight::RunComparison comparison_of(const Check& check, EvaluatedRuns& runs) {
  return insight::compare_runs(
      {runs.sides(check.accepted)}, {runs.sides(check.checked)},
      {.margin = check.margin(),
       .metrics = {check.options.metrics.begin(), check.options.metrics.end()},
       .across = insight::parameters_of(check.options.across)});
}

bool is_at(const insight::ComparedPoint& point, const workspace::Workpackage& one) {
  return one.step == point.step && one.state != workspace::State::skipped &&
         workspace::is_at(one.parameters, point.parameters);
}

/// The number of further runs in which to repeat a worse point: an earlier check may have repeated
/// only others.
std::size_t lacking_runs(const Check& check, const insight::ComparedPoint& point,
                         EvaluatedRuns& runs) {
  std::size_t lacking = point.is_regression() ? check.options.confirmations : 0;
  for (std::size_t k = 1; k < check.checked.size() && lacking > 0; ++k)
    if (std::ranges::any_of(runs.read(check.checked[k]).workspace.workpackages(),
                            [&](const auto& one) { return is_at(point, one); }))
      --lacking;
  return lacking;
}

/// Repeats the points that are worse than the baseline, each once per run.
/// @param lacking number of further runs in which to repeat each point
/// @returns whether all of these runs have finished
bool confirm(const Check& check, const insight::RunComparison& comparison,
             const std::vector<std::size_t>& lacking, EvaluatedRuns& runs) {
  const BaselineCheckOptions& options = check.options;
  const std::size_t more = std::ranges::max(lacking);
  insight::ConfirmationOptions confirmation{
      .runs = check.checked.size() - 1 + more,
      .points = {},
      .across = {options.across.begin(), options.across.end()},
      .interrupted = &catch_interruptions()};
  std::size_t points = 0;
  for (std::size_t k = 0; k < comparison.points.size(); ++k)
    if (const insight::ComparedPoint& point = comparison.points[k]; lacking[k] > 0) {
      auto& of_step = confirmation.points[point.step];
      if (std::ranges::find(of_step, point.parameters) == of_step.end()) {
        of_step.push_back(point.parameters);
        ++points;
      }
    }
  const RunDirectory& checked = check.checked.front();
  tell(fmt::format("note: {} of run {} {} worse; repeating {} in {}", plural(points, "point"),
                   checked.id, points == 1 ? "is" : "are", points == 1 ? "it" : "them",
                   plural(more, "run")));
  Progress progress(runs.read(checked).run.benchmark, {.waits = true});
  Diagnostics diagnostics = telling_diagnostics();
  return insight::confirm(checked, check.known, confirmation, diagnostics, progress);
}

int show_check(Check check) {
  const BaselineCheckOptions& options = check.options;
  EvaluatedRuns runs;
  const RunDirectory checked = check.checked.front();
  const space::RunMetadata metadata = runs.read(checked).run.metadata;
  const auto with_confirmations = [&] {
    check.checked = {checked};
    std::ranges::copy(insight::confirmations_of(metadata.uuid, check.known),
                      std::back_inserter(check.checked));
  };
  with_confirmations();
  insight::RunComparison comparison = comparison_of(check, runs);
  insight::BaselineCheck outcome = insight::check_of(comparison, check.margin());
  std::vector<std::size_t> lacking;
  for (const insight::ComparedPoint& point : comparison.points)
    lacking.push_back(lacking_runs(check, point, runs));
  if (std::ranges::any_of(lacking, [](std::size_t count) { return count > 0; })) {
    if (!confirm(check, comparison, lacking, runs)) {
      tell(
          "undecided: not all points could be repeated\nhint: run the same command again to "
          "continue");
      return catch_interruptions() ? interruption_code() : undecided;
    }
    check.known = known_runs(outpath_of(checked.path));
    with_confirmations();
    comparison = comparison_of(check, runs);
    outcome = insight::check_of(comparison, check.margin());
  }
  const std::string others =
      check.checked.size() == 1
          ? ""
          : fmt::format(" and {} of its points", plural(check.checked.size() - 1, "repetition"));
  if (options.style.empty())
    print(
        comparison_text(comparison,
                        {baseline_name(check.accepted), description_of(runs.read(checked), others)},
                        check.margin()) +
        outcome_text(outcome, check.margin()));
  else
    print_table(comparison_table(comparison), options.style);
  return outcome.outcome == insight::CheckOutcome::passed   ? 0
         : outcome.outcome == insight::CheckOutcome::failed ? failure
                                                            : undecided;
}

void require_known(const std::vector<std::string>& across, const Workspace& workspace) {
  const auto workpackages = workspace.workpackages();
  for (const std::string& name : insight::parameters_of(across))
    if (std::ranges::none_of(workpackages, [&](const auto& one) {
          return workspace::value_of(one.parameters, name) != nullptr;
        }))
      throw Error(Id::unknown_name,
                  fmt::format("--across: '{}' is neither a parameter nor a fact of the run", name),
                  suggestion(name, insight::fingerprint_names(), "facts: "));
}

/// The run to check. A run that only repeats points of another selects that other run.
RunDirectory checked_run(const RunChoice& choice, const std::vector<insight::KnownRun>& known) {
  const RunDirectory chosen = one_run(choice.runs(), "check");
  const auto self = std::ranges::find(
      known, chosen.id, [](const insight::KnownRun& run) { return run.directory.id; });
  const auto confirmed = self == known.end() ? std::nullopt : self->metadata.confirms;
  if (confirmed)
    for (const insight::KnownRun& run : known)
      if (run.metadata.uuid == *confirmed)
        return run.directory;
  return chosen;
}

int check_run(const BaselineCheckOptions& options) {
  const std::filesystem::path outpath = directory_of_runs(options.choice.directory);
  std::vector<insight::KnownRun> known = known_runs(outpath);
  const RunDirectory directory = checked_run(options.choice, known);
  auto workspace = Workspace::open(directory.path, Workspace::Access::read);
  const space::Run run = space::load_run(directory, workspace);
  if (!run::status_if_finished(run, workspace)) {
    tell(fmt::format("undecided: run {} has not finished\nhint: `bench continue {}`", directory.id,
                     target_of(run)));
    return undecided;
  }
  require_known(options.across, workspace);
  const insight::Baseline baseline = insight::baseline_of(
      run.metadata, known,
      {.last = options.last, .across = {options.across.begin(), options.across.end()}});
  if (baseline.runs.empty()) {
    tell(no_baseline_text(baseline, short_path(outpath), directory.id));
    return undecided;
  }
  return show_check({.options = options,
                     .known = std::move(known),
                     .accepted = baseline.runs,
                     .checked = {directory}});
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
  app.add_option("--confirm", options->confirmations,
                 "before points count as worse, repeat them in N runs of their own")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
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
  CLI::App* accepting = add("accept", "mark runs as good, to compare later ones with them");
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
      print(accepted_text(known_runs(outpath), short_path(outpath)));
      return 0;
    }
    return for_each_run(choice->runs(), accepting->parsed() ? accept_run : revoke_run);
  };
}

}  // namespace bench::cli
