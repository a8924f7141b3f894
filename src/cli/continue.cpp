#include "command.hpp"
#include "progress.hpp"
#include "work.hpp"

#include <memory>

#include <bench/engine/budget.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::cli {

std::function<int()> declare_continue(CLI::App& app) {
  struct Options {
    RunChoice choice;
    WorkOptions work;
  };
  const auto options = std::make_shared<Options>();
  options->choice.declare(app);
  declare(app, options->work);
  return [options] {
    set_verbosity(options->work);
    int worst = 0;
    for (const auto& directory :
         workspace::select_runs(options->choice.directory, options->choice.ids)) {
      const workspace::WriterLock lock(directory.path);
      auto workspace =
          workspace::Workspace::open(directory.path, workspace::Workspace::Access::write);
      engine::Run run = engine::load_run(directory, workspace);
      run.platform = engine::platform_of(run);
      if (!options->work.budget.empty()) {
        engine::set_budget(options->work.budget, run);
        workspace.set_fact(engine::budget_fact, run.fact(engine::budget_fact));
      }
      worst = std::max(worst, work_on(run, workspace, options->work, "continue"));
      if (is_interruption_code(worst))
        break;
    }
    return worst;
  };
}

}  // namespace bench::cli
