#include "command.hpp"
#include "interruption.hpp"
#include "work.hpp"

#include <algorithm>
#include <functional>
#include <memory>

#include <fmt/core.h>

#include <bench/cli/output/output.hpp>
#include <bench/engine/remove.hpp>
#include <bench/platform/platform.hpp>
#include <bench/setup/budget.hpp>
#include <bench/setup/parallel.hpp>
#include <bench/setup/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::cli {

namespace {

/// The caller holds the lock.
void make_failed_again(const setup::Run& run, workspace::Workspace& workspace) {
  engine::check_removable(run.directory);
  const auto removal = engine::plan_removal(workspace, engine::failed_workpackages(workspace));
  engine::remove_workpackages(run.directory, workspace, removal);
  tell(fmt::format("note: {} of run {} that failed {} repeated",
                   plural(removal.reset.size(), "workpackage"), run.directory.id,
                   removal.reset.size() == 1 ? "is" : "are"));
}

}  // namespace

std::function<int()> declare_continue(CLI::App& app) {
  struct Options {
    RunChoice choice;
    WorkOptions work;
    platform::SubmissionDefaults asking;
    bool failed = false;
  };
  const auto options = std::make_shared<Options>();
  options->choice.declare(app);
  declare_asking(app, options->asking);
  declare(app, options->work);
  app.add_flag("--failed", options->failed, "repeat failed workpackages; their files are deleted");
  return [options] {
    set_verbosity(options->work);
    int worst = 0;
    for (const auto& directory :
         workspace::select_runs(options->choice.directory, options->choice.ids)) {
      const workspace::WriterLock lock(directory.path);
      auto workspace =
          workspace::Workspace::open(directory.path, workspace::Workspace::Access::write);
      setup::Run run = setup::load_run(directory, workspace);
      setup::ask_otherwise(options->asking, run, workspace);
      run.platform = setup::platform_of(run);
      if (!options->work.budget.empty()) {
        setup::set_budget(options->work.budget, run);
        setup::store_fact("budget_nh", run, workspace);
      }
      if (options->work.parallel) {
        setup::set_parallel(*options->work.parallel, run);
        setup::store_fact("parallel", run, workspace);
      }
      if (options->failed)
        make_failed_again(run, workspace);
      if (setup::input_has_changed(run))
        tell(
            fmt::format("note: {} has changed; this run continues with the recorded version "
                        "(`bench result {} -u FILE` uses new patterns and tables)",
                        short_path(run.metadata.input_file), target_of(run)));
      worst = std::max(worst, work_on(run, workspace, options->work, "continue"));
      if (is_interruption_code(worst))
        break;
    }
    return worst;
  };
}

}  // namespace bench::cli
