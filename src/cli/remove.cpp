#include "command.hpp"
#include "runs.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/run/remove.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::cli {
namespace {

using workspace::RunDirectory;
using workspace::Workspace;

struct RemoveOptions {
  RunChoice choice;
  std::vector<long long> workpackages;
  std::vector<std::string> steps;
  bool failed = false;
  bool force = false;
};

/// @throws Error where nobody can answer
void check_askable(const std::string& question) {
  if (::isatty(STDIN_FILENO) != 1)
    throw Error(Id::usage, fmt::format("cannot ask for confirmation: {}?", question),
                "nothing was removed; add --force to remove without asking");
}

/// Whether the user says yes.
bool confirmed(const std::string& question, bool force) {
  if (force)
    return true;
  check_askable(question);
  print(question + "? (y/n) ");
  std::string answer;
  if (!std::getline(std::cin, answer))
    print("\n");
  const bool yes = answer.starts_with('y') || answer.starts_with('Y');
  if (!yes)
    tell("nothing was removed");
  return yes;
}

/// What is removed, as a question.
/// @param with_the_scheduler set to the workpackages that have jobs, as far as is known
std::string removal_question(const RunDirectory& run, long long& with_the_scheduler) {
  const std::string directory = short_path(std::filesystem::absolute(run.path));
  if (workspace::is_leftover(run.path))
    return fmt::format("remove {}, which contains no run because bench was killed", directory);
  std::string question;
  const std::string why = why_unsound([&] {
    const Workspace workspace = Workspace::open(run.path, Workspace::Access::read);
    question = fmt::format("remove run {} ({}, started {}) in {}", run.id,
                           workspace.fact("benchmark"), insight::started(workspace), directory);
    with_the_scheduler = std::ranges::count_if(
        workspace.unsettled_attempts(),
        [](const auto& attempt) { return !attempt.submission.empty() && attempt.outcome.empty(); });
  });
  return why.empty() ? question : fmt::format("remove run {}, although {}", run.id, why);
}

void remove_one_run(const RunDirectory& run, bool force) {
  run::check_removable(run);
  const workspace::WriterLock lock(run.path);
  long long with_the_scheduler = 0;
  const std::string question = removal_question(run, with_the_scheduler);
  if (!confirmed(question, force))
    return;
  run::remove_run(run);
  print(fmt::format("removed run {}\n", run.id));
  if (with_the_scheduler > 0)
    tell(fmt::format("note: jobs of {} may continue in the batch system",
                     plural(static_cast<std::size_t>(with_the_scheduler), "workpackage")));
}

std::vector<long long> chosen_failures(const RunDirectory& run, Workspace& workspace,
                                       const std::vector<std::string>& steps) {
  const space::Run loaded = space::load_run(run, workspace);
  for (const std::string& step : steps)
    check_step(loaded, step);
  return run::failed_workpackages(workspace, {steps.begin(), steps.end()});
}

void remove_some_workpackages(const RunDirectory& run, const RemoveOptions& options) {
  run::check_removable(run);
  const workspace::WriterLock lock(run.path);
  Workspace workspace = Workspace::open(run.path, Workspace::Access::write);
  const std::vector<long long> chosen =
      options.failed ? chosen_failures(run, workspace, options.steps) : options.workpackages;
  if (chosen.empty()) {
    tell(fmt::format("note: run {} has no failed workpackages; nothing was removed", run.id));
    return;
  }
  const run::Removal removal = run::plan_removal(workspace, chosen);
  std::string question =
      fmt::format("remove workpackage{} {} of run {}", removal.reset.size() == 1 ? "" : "s",
                  fmt::join(removal.reset, ", "), run.id);
  if (!removal.elsewhere.empty())
    question += fmt::format(", which may still run on {}", removal.elsewhere.begin()->second);
  if (!removal.removed.empty())
    question += fmt::format(", and its dependents: {}", fmt::join(removal.removed, ", "));
  if (!removal.reconsidered.empty())
    question += fmt::format(", and decide again about skipped ones: {}",
                            fmt::join(removal.reconsidered, ", "));
  if (!confirmed(question, options.force))
    return;
  run::remove_workpackages(run, workspace, removal);
  const std::size_t count = removal.reset.size() + removal.removed.size();
  print(fmt::format("removed {} of run {}; `bench continue {} -i {}` makes {} again\n",
                    plural(count, "workpackage"), run.id, shell_quote(options.choice.directory),
                    run.id, count == 1 ? "it" : "them"));
  if (!removal.reconsidered.empty())
    tell(fmt::format("note: what it implied is decided again: workpackage{} {}",
                     removal.reconsidered.size() == 1 ? "" : "s",
                     fmt::join(removal.reconsidered, ", ")));
}

}  // namespace

std::function<int()> declare_remove(CLI::App& app) {
  const auto options = std::make_shared<RemoveOptions>();
  options->choice.declare(app);
  app.add_option("-w,--workpackage", options->workpackages,
                 "remove only these and their dependents; `continue` repeats them")
      ->type_name("WP");
  CLI::Option* failed = app.add_flag("--failed", options->failed,
                                     "remove only failed workpackages; `continue` repeats them");
  app.add_option("-s,--step", options->steps, "with --failed: only of these steps")
      ->type_name("STEP")
      ->needs(failed);
  failed->excludes("--workpackage");
  app.add_flag("-f,--force", options->force, "do not ask for confirmation");
  return [options] {
    const auto runs =
        workspace::select_with_leftovers(options->choice.directory, options->choice.ids);
    const bool whole = options->workpackages.empty() && !options->failed;
    if (whole && runs.size() > 1 && !options->force)
      check_askable(fmt::format("remove {}", plural(runs.size(), "run")));
    return for_each_run(runs, [&](const RunDirectory& run) {
      if (whole)
        remove_one_run(run, options->force);
      else
        remove_some_workpackages(run, *options);
    });
  };
}

}  // namespace bench::cli
