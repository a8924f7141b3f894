#include "command.hpp"
#include "runs.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/jobs.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::cli {
namespace {

using workspace::Workspace;

struct CancelOptions {
  RunChoice choice;
  std::vector<std::string> steps;
  std::vector<long long> workpackages;
};

std::string cancelled_text(const workspace::RunDirectory& directory,
                           const insight::Cancellation& cancellation) {
  const std::size_t waiting = cancellation.waiting.size();
  return fmt::format(
      "cancelled {} of run {}, with {}{}\n",
      plural(cancellation.jobs.size() + cancellation.own.size(), "job"), directory.id,
      plural(cancellation.attempts.size(), "workpackage"),
      waiting == 0 ? ""
                   : fmt::format(" and {} that wait{} for them", waiting, waiting == 1 ? "s" : ""));
}

void cancel_jobs(const workspace::RunDirectory& directory, const CancelOptions& options) {
  insight::Cancellation cancellation;
  space::Run run;
  {
    // Read first, since another bench may be waiting for the jobs and hold the lock.
    Workspace workspace = Workspace::open(directory.path, Workspace::Access::read);
    run = space::load_run(directory, workspace);
    run.platform = space::platform_of(run);
    for (const std::string& step : options.steps)
      check_step(run, step);
    cancellation =
        insight::plan_cancellation(run, workspace, {options.steps.begin(), options.steps.end()},
                                   {options.workpackages.begin(), options.workpackages.end()});
    if (cancellation.attempts.empty() && cancellation.unanswered.empty()) {
      tell(fmt::format("note: run {} has no jobs in a batch system", directory.id));
      return;
    }
    if (const std::string said = insight::cancel(run, cancellation); !said.empty())
      throw Error(Id::batch_system_failed, said, "nothing was recorded; run `bench cancel` again");
  }
  if (const auto lock = workspace::WriterLock::take_if_free(directory.path)) {
    Workspace workspace = Workspace::open(directory.path, Workspace::Access::write);
    insight::store_cancellation(run, cancellation, "cancelled by `bench cancel`", workspace);
  }
  if (!cancellation.attempts.empty())
    print(cancelled_text(directory, cancellation));
  if (!cancellation.unanswered.empty())
    throw Error(Id::batch_system_failed, cancellation.unanswered,
                "run `bench continue`, which finds out, then `bench cancel` again");
}

}  // namespace

std::function<int()> declare_cancel(CLI::App& app) {
  const auto options = std::make_shared<CancelOptions>();
  options->choice.declare(app);
  app.add_option("-s,--step", options->steps, "only jobs of these steps")->type_name("STEP");
  app.add_option("-w,--workpackage", options->workpackages,
                 "only jobs of these workpackages; also cancels workpackages in the same jobs")
      ->type_name("WP");
  return [options] {
    return for_each_run(options->choice.runs(),
                        [&](const workspace::RunDirectory& run) { cancel_jobs(run, *options); });
  };
}

}  // namespace bench::cli
