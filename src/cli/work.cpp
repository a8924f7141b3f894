#include "work.hpp"

#include "command.hpp"
#include "interruption.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/cli/output/progress.hpp>
#include <bench/cli/output/show.hpp>
#include <bench/insight/jobs.hpp>
#include <bench/machine/platform.hpp>
#include <bench/machine/systems.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/report.hpp>
#include <bench/run/loop.hpp>
#include <bench/run/remove.hpp>
#include <bench/space/run.hpp>
#include <bench/space/software.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {

void declare_asking(CLI::App& app, machine::SubmissionDefaults& asking) {
  app.add_option("--partition", asking.partition, "partition or queue of the jobs")
      ->type_name("NAME");
  app.add_option("--account", asking.account, "account that the jobs are charged to")
      ->type_name("NAME");
  app.add_option("--qos", asking.qos, "quality of service of the jobs")->type_name("NAME");
  app.add_option("--reservation", asking.reservation, "reservation of the jobs")->type_name("NAME");
}

void declare(CLI::App& app, WorkOptions& options) {
  app.add_flag("-e,--exit,--error", options.stop_at_error, "stop at the first failure");
  app.add_flag("-a,--analyse", options.analyse, "analyse afterwards");
  app.add_flag("-r,--result", options.result, "analyse and show the result afterwards");
  declare_strictness(app, options.strict, options.lenient);
  app.add_flag("--wait", options.wait, "wait until all batch jobs have ended");
  app.add_flag("--chain", options.chain,
               "submit jobs that depend on others at once; the batch system makes them wait");
  app.add_flag("--cancel-on-interrupt", options.cancel_on_interrupt,
               "cancel the batch jobs on Ctrl-C");
  app.add_option("--budget", options.budget,
                 "limit for all jobs together, for example 50nh (node hours)")
      ->type_name("HOURS");
  app.add_option("-j,--parallel", options.parallel,
                 "workpackages that run on this machine at a time; 0: one per core; default: one, "
                 "or `procs` and `max_async` of the step")
      ->type_name("N");
  app.add_flag("--hide-animation", options.hide_animation, "no progress line");
  app.add_flag("-v,--verbose", options.verbosity,
               "show the log on the console; -vv: the output of the commands; -vvv: both");
}

namespace {

void log_beginning(const space::Run& run, const std::string& log_name) {
  command_log().open(run.directory.path, log_name);
  const std::string& tags = run.metadata.tags;
  command_log().add(
      Level::info,
      fmt::format("benchmark {}, run {}, platform {}, {}", run.benchmark.name, run.directory.id,
                  run.platform.name, tags.empty() ? "no tags" : "tags " + tags));
}

void log_status(const run::RunStatus& status) {
  for (const workspace::StepCounts& step : status.counts)
    command_log().add(
        Level::info,
        fmt::format("step {}: {}, {}", step.step,
                    plural(static_cast<std::size_t>(step.all()), "workpackage"), text_of(step)));
}

/// Analyses the run and shows its tables, as the options ask for.
/// @param warned set where there was something to warn of
/// @returns whether all results could be made
bool evaluate_run(const space::Run& run, workspace::Workspace& workspace, bool show_tables,
                  bool& warned) {
  advise_update(run);
  Diagnostics diagnostics = telling_diagnostics();
  results::analyse_and_store(run, workspace, diagnostics);
  Failures failures;
  if (show_tables) {
    std::vector<RunReport> reports(1);
    reports[0] = {
        .id = run.directory.id,
        .report = results::report(run, workspace, results::stored_analyses(run, workspace), {},
                                  diagnostics, results::Trust::own, &failures)};
    keep_tables(reports[0].report, failures);
    print("\n");
    show(reports, false, {}, &failures);
    send(reports[0].report, "", failures);
  }
  tell_errors(failures.errors());
  const auto& warnings = diagnostics.warnings();
  tell_advice(std::ranges::any_of(warnings, [](const Warning& one) { return one.place.known(); }));
  end_advice();
  warned = warned || !warnings.empty();
  return failures.empty();
}

/// Cancels the jobs of an interrupted run, as `bench cancel` does.
/// @param status is brought up to date
/// @returns whether there were any
bool cancel_jobs(const space::Run& run, workspace::Workspace& workspace, run::RunStatus& status) {
  const insight::Cancellation cancellation = insight::plan_cancellation(run, workspace, {}, {});
  if (!cancellation.unanswered.empty())
    tell(cancellation.unanswered, Level::warning);
  if (cancellation.attempts.empty())
    return false;
  if (const std::string said = insight::cancel(run, cancellation); !said.empty()) {
    tell(said, Level::warning);
    return false;
  }
  insight::store_cancellation(run, cancellation, "cancelled when bench was interrupted", workspace);
  status.counts = run::counts_by_step(run, workspace);
  return true;
}

/// What was ended, what still runs, and how to resume.
std::string interruption_text(const space::Run& run, const run::RunStatus& status,
                              bool were_cancelled) {
  const std::string target = target_of(run);
  if (were_cancelled)
    return fmt::format(
        "interrupted: the jobs were cancelled; `bench continue {} --failed` submits them again",
        target);
  long long with_batch_system = 0;
  for (const workspace::StepCounts& step : status.counts)
    with_batch_system += step.submitted;
  if (with_batch_system == 0)
    return fmt::format(
        "interrupted: running workpackages were stopped; resume with `bench continue {}`", target);
  return fmt::format(
      "interrupted: {} of the batch system {} running; "
      "`bench continue {} --wait` waits for them, `bench cancel {}` ends them",
      plural(static_cast<std::size_t>(with_batch_system), "job"),
      with_batch_system == 1 ? "keeps" : "keep", target, target);
}

/// The last line on a terminal, which may have scrolled past the failures.
void show_summary(const space::Run& run, const run::RunStatus& status,
                  const std::vector<long long>& failed,
                  std::chrono::steady_clock::time_point begun) {
  const double elapsed_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  const std::string why =
      failed.empty() ? ""
                     : fmt::format("bench why {} {}", shell_quote(short_path(run.directory.path)),
                                   failed.front());
  console().write(STDERR_FILENO,
                  run_summary(sum_of(status.counts), elapsed_s, why, STDERR_FILENO) + "\n");
}

/// Nobody has to wait for a chained run.
std::string queue_text(const space::Run& run, const run::RunStatus& status) {
  const workspace::StepCounts all = sum_of(status.counts);
  if (!run.metadata.chained || all.submitted == 0)
    return "";
  const auto open = static_cast<std::size_t>(all.ready + all.running + all.waiting);
  return fmt::format("{} in the queue{}; {} with `bench continue {}` (see `bench status`)",
                     plural(static_cast<std::size_t>(all.submitted), "job"),
                     open == 0 ? "" : fmt::format(", {} not yet", plural(open, "workpackage")),
                     open == 0 ? "collect them" : "collect them and submit the rest",
                     target_of(run));
}

/// @param warned set to whether there was something to warn of
run::RunStatus show_work(space::Run& run, workspace::Workspace& workspace,
                         const WorkOptions& options, bool& warned) {
  Progress progress(run.benchmark, {.hide_animation = options.hide_animation,
                                    .follow = options.verbosity >= 2,
                                    .waits = options.wait});
  run::RunStatus status = run::work(run, workspace,
                                    {.stop_at_error = options.stop_at_error,
                                     .wait = options.wait,
                                     .interrupted = &catch_interruptions()},
                                    progress);
  warned = progress.has_warned();
  return status;
}

int take_further(space::Run& run, workspace::Workspace& workspace, const WorkOptions& options) {
  print(heading(run) + "\n");
  const auto begun = std::chrono::steady_clock::now();
  bool warned = false;
  run::RunStatus status = show_work(run, workspace, options, warned);
  bool were_cancelled = false;
  if (!status.interrupted)  // which must not wait for hashes
    space::record_software(run, workspace);
  else if (options.cancel_on_interrupt)
    were_cancelled = cancel_jobs(run, workspace, status);
  log_status(status);
  const bool finished = status.open() == 0;
  const auto failed =
      status.failed() > 0 ? run::failed_workpackages(workspace) : std::vector<long long>{};
  print(status_table(status.counts) + "\n" +
        closing(run, finished, failed.empty() ? -1 : failed.front()));
  if (!options.hide_animation && ::isatty(STDERR_FILENO) == 1)
    show_summary(run, status, failed, begun);
  if (status.interrupted) {
    tell(interruption_text(run, status, were_cancelled), Level::warning);
    return interruption_code();
  }
  if (const std::string text = queue_text(run, status); !text.empty())
    print(text + "\n");
  if (!status.refusals.empty())
    tell(fmt::format("{}\nhint: they stay ready; `bench continue {}` submits them, and --account, "
                     "--partition, --qos and --reservation change the request",
                     status.refusals, target_of(run)),
         Level::error);
  if (!status.blocked_reason.empty()) {
    tell(fmt::format("{}\nhint: nothing is lost; resume with `bench continue {}`",
                     status.blocked_reason, target_of(run)),
         Level::error);
    return 1;
  }
  if (!status.refusals.empty() || (options.stop_at_error && status.failed() > 0))
    return 1;
  const bool is_shown =
      !(options.analyse || options.result) || evaluate_run(run, workspace, options.result, warned);
  return !is_shown || status.failed() > 0 || (warned && options.strict) ? 1 : 0;
}

}  // namespace

bool ends_all(int code, const WorkOptions& options) {
  return is_interruption_code(code) || (code > 0 && options.stop_at_error);
}

void set_verbosity(WorkOptions& options) {
  machine::tell_slow_answers([](const std::string& program) {
    tell(fmt::format("note: {} has not answered for 2 s; still waiting", program));
  });
  const char* wanted = std::getenv("JUBE_VERBOSE");
  if (wanted && *wanted && options.verbosity == 0) {
    const auto number = parse_integer(wanted);
    if (!number || *number < 0 || *number > 3)
      throw Error(Id::invalid_value, fmt::format("JUBE_VERBOSE is '{}'", wanted),
                  "a number from 0 to 3, as with -vvv");
    options.verbosity = static_cast<int>(*number);
  }
  if (options.verbosity % 2 == 1 || options.verbosity > 3)
    command_log().set_verbose();
}

int work_on(space::Run& run, workspace::Workspace& workspace, const WorkOptions& options,
            const std::string& log_name) {
  log_beginning(run, log_name);
  const int code = take_further(run, workspace, options);
  command_log().close(code);
  return code;
}

}  // namespace bench::cli
