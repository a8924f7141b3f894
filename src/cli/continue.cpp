#include "command.hpp"
#include "evaluation.hpp"
#include "interruption.hpp"
#include "runs.hpp"
#include "work.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/machine/platform.hpp>
#include <bench/run/chained_steps.hpp>
#include <bench/run/make_run.hpp>
#include <bench/run/preflight.hpp>
#include <bench/run/remove.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::cli {

namespace {

struct ContinueOptions {
  RunChoice choice;
  WorkOptions work;
  machine::SubmissionDefaults asking;
  bool failed = false;
  Update update;
};

/// The caller holds the lock.
void make_failed_again(const space::Run& run, workspace::Workspace& workspace) {
  run::check_removable(run.directory);
  const auto removal = run::plan_removal(workspace, run::failed_workpackages(workspace));
  run::remove_workpackages(run.directory, workspace, removal);
  const std::size_t count = removal.reset.size() + removal.reconsidered.size();
  tell(fmt::format("note: {} of run {} that failed{} {} repeated", plural(count, "workpackage"),
                   run.directory.id, removal.reconsidered.empty() ? "" : " or were skipped",
                   count == 1 ? "is" : "are"));
}

/// The caller holds the lock.
space::Run extended(const Update& update, const space::Run& run, workspace::Workspace& workspace,
                    const WorkOptions& work) {
  Diagnostics diagnostics = telling_diagnostics(work.strict, !work.lenient);
  space::Run updated = run::with_updated_input(run, workspace, update.request(), diagnostics);
  updated.platform = space::platform_of(updated);
  std::vector<std::string> notices;
  const run::Extension extension =
      run::extend_run(updated, run.benchmark, workspace, diagnostics, notices);
  for (const std::string& notice : notices)
    tell("note: " + notice);
  tell(fmt::format("note: run {} has {} more", run.directory.id,
                   plural(extension.added, "workpackage")));
  if (extension.obsolete > 0)
    tell(
        fmt::format("note: {} of the run {} not in {} any more; they stay, and `bench remove` "
                    "deletes them",
                    plural(extension.obsolete, "workpackage"),
                    extension.obsolete == 1 ? "is" : "are", update.file));
  if (!extension.kept.empty())
    tell(fmt::format(
        "note: scripts give other values today; the workpackages keep theirs: {}",
        join(std::vector<std::string>(extension.kept.begin(), extension.kept.end()), ", ")));
  return updated;
}

/// Sets what the options change of a run. The caller holds the lock.
void apply(const ContinueOptions& options, space::Run& run, workspace::Workspace& workspace) {
  std::vector<std::string> notices;
  run.platform = space::platform_of(run);
  run::notice_options(run, options.asking, notices);
  space::ask_otherwise(options.asking, run, workspace);
  run.platform = space::platform_of(run);
  if (options.work.chain && !run.metadata.chained && run::chain_steps(run, notices))
    space::store_fact("chained", run, workspace);
  for (const std::string& notice : notices)
    tell("note: " + notice);
  if (!options.work.budget.empty()) {
    space::set_budget(options.work.budget, run);
    space::store_fact("budget_nh", run, workspace);
  }
  if (options.work.parallel) {
    space::set_parallel(*options.work.parallel, run);
    space::store_fact("parallel", run, workspace);
  }
}

int continue_run(const workspace::RunDirectory& directory, const ContinueOptions& options) {
  const workspace::WriterLock lock(directory.path);
  auto workspace = workspace::Workspace::open(directory.path, workspace::Workspace::Access::write);
  space::Run run = space::load_run(directory, workspace);
  WorkOptions work = options.work;
  if (!options.update.file.empty()) {
    run = extended(options.update, run, workspace, work);
    work.analyse = true;  // its patterns may have changed, too
  }
  apply(options, run, workspace);
  if (const auto reopened = run::reopen_those_with_files(run, workspace); !reopened.empty())
    tell(fmt::format("note: the files that {} waited for have appeared: {} on",
                     plural(reopened.size(), "failed workpackage"),
                     reopened.size() == 1 ? "it goes" : "they go"));
  const std::size_t failed = run::failed_workpackages(workspace).size();
  if (options.failed)
    make_failed_again(run, workspace);
  else if (!options.update.file.empty() && failed > 0)
    tell(fmt::format("note: {} of the run failed and {} not repeated; --failed repeats {}",
                     plural(failed, "workpackage"), failed == 1 ? "is" : "are",
                     failed == 1 ? "it" : "them"));
  if (space::input_state(run) == space::InputState::changed)
    tell(
        fmt::format("note: {} has changed; this run continues with the recorded version "
                    "(`{}` uses its commands and adds its points, `bench result -u` uses its "
                    "patterns and tables)",
                    short_path(run.metadata.input_file), repeat_command(run)));
  return work_on(run, workspace, work, "continue");
}

}  // namespace

std::function<int()> declare_continue(CLI::App& app) {
  const auto options = std::make_shared<ContinueOptions>();
  options->choice.declare(app);
  declare_asking(app, options->asking);
  declare(app, options->work);
  app.add_flag("--failed", options->failed, "repeat failed workpackages; their files are deleted");
  declare_update(app, options->update,
                 "add the points that this changed input file has and the run lacks");
  return [options] {
    set_verbosity(options->work);
    warn_of_idle(options->update);
    return act_on_each(options->choice.runs(), [&](const workspace::RunDirectory& directory) {
      return continue_run(directory, *options);
    });
  };
}

}  // namespace bench::cli
