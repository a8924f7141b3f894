#include "command.hpp"
#include "runs.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <bench/base/text.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/jobs.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::cli {
namespace {

using insight::RunState;
using workspace::RunDirectory;
using workspace::Workspace;

std::vector<workspace::StepCounts> counts_of(const RunDirectory& run) {
  return Workspace::open(run.path, Workspace::Access::read).counts();
}

bool has_jobs(const std::vector<workspace::StepCounts>& counts) {
  return std::ranges::any_of(counts, [](const auto& step) { return step.submitted > 0; });
}

/// Tells once of a worker that may have been killed on its host.
void tell_of_worker(const std::optional<workspace::Worker>& worker, bool& told) {
  if (!worker || worker->sure || std::exchange(told, true))
    return;
  tell(
      fmt::format("note: {} is working on this run, unless it was killed; that cannot be checked "
                  "from here",
                  worker->name));
}

/// Watches over a run that no bench process works on. Jobs of a batch system go on without one.
class JobWatch {
 public:
  explicit JobWatch(const RunDirectory& run) : run_(run) {}

  /// Tells, once, what is going on. Asks the batch system at most every 30 s.
  /// @returns whether jobs are queued or running
  bool poll(const std::vector<workspace::StepCounts>& counts) {
    constexpr auto pause = std::chrono::seconds(30);
    const auto now = std::chrono::steady_clock::now();
    if (asked_ && now - *asked_ < pause)
      return true;
    asked_ = now;
    insight::JobsUnderWay jobs;
    if (has_jobs(counts)) {
      auto workspace = Workspace::open(run_.path, Workspace::Access::read);
      jobs = insight::jobs_under_way(space::load_run(run_, workspace), workspace);
    }
    const std::string target =
        fmt::format("{} -i {}", shell_quote(short_path(outpath_of(run_.path))), run_.id);
    const std::string count = plural(jobs.count, "job");
    if (!jobs.failure.empty())
      tell(
          fmt::format("note: no bench process is working on this run; {} may be queued or running: "
                      "{}; collect with: bench continue {} --wait",
                      count, jobs.failure, target));
    else if (jobs.count == 0)
      tell(
          fmt::format("note: nobody is working on this run: no bench process{}; resume with: bench "
                      "continue {}{}",
                      has_jobs(counts) ? ", and none of its jobs is queued or running" : "", target,
                      has_jobs(counts) ? " --wait" : ""));
    else if (!std::exchange(told_, true))
      tell(fmt::format(
          "note: {} of this run {} queued or running, but no bench process collects "
          "{}: bench continue {} --wait",
          count, jobs.count == 1 ? "is" : "are", jobs.count == 1 ? "it" : "them", target));
    return jobs.count > 0 && jobs.failure.empty();
  }

  bool has_told() const { return told_; }

  /// A bench process works on the run again.
  void forget() {
    asked_.reset();
    told_ = false;
  }

 private:
  const RunDirectory& run_;
  std::optional<std::chrono::steady_clock::time_point> asked_;
  bool told_ = false;
};

void print_state(const RunDirectory& run) {
  const RunState state = insight::run_state(run, counts_of(run));
  print_run_state(state);
  if (state == RunState::running) {
    bool told = false;
    tell_of_worker(workspace::worker_of(run.path), told);
  }
}

/// How many lines of the terminal a text takes, which wraps where it is narrow.
std::size_t lines_on_terminal(const std::string& text) {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    size.ws_col = 80;
  std::size_t lines = 0;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const std::size_t width = display_width(text.substr(begin, end - begin));
    lines += std::max<std::size_t>(1, (width + size.ws_col - 1) / size.ws_col);
  }
  return lines;
}

/// Shows the state of a run whenever it changes, until it has ended or nobody works on it. On a
/// terminal the new table takes the place of the old one. It also ends when its reader
/// has gone away.
void watch(const RunDirectory& run) {
  constexpr int pause_ms = 500;
  const bool draws_over = can_draw_over(STDOUT_FILENO);
  std::string shown;
  bool worked_on = true;
  bool told = false;
  JobWatch jobs(run);
  do {
    const auto worker = workspace::worker_of(run.path);
    tell_of_worker(worker, told);
    // One bench may end just before the next one begins, so that it takes two looks.
    const bool was_worked_on = std::exchange(worked_on, worker.has_value());
    const auto counts = counts_of(run);
    const std::string table = status_table(counts);
    if (table != shown) {
      const std::size_t lines = lines_on_terminal(shown);
      if (draws_over && lines > 0 && !jobs.has_told())  // then there is a note between
        move_cursor(fmt::format("\x1b[{}A\x1b[J", lines));
      print(table);
      shown = table;
    }
    const bool nobody = !worked_on && !was_worked_on;
    if (!nobody)
      jobs.forget();
    const RunState state = insight::run_state(run, counts);
    const bool is_over = state == RunState::finished || state == RunState::failed;
    if (is_over || (nobody && !jobs.poll(counts))) {
      print_run_state(state);
      return;
    }
  } while (!reader_goes_within(pause_ms));
}

}  // namespace

std::function<int()> declare_status(CLI::App& app) {
  struct Options {
    RunChoice choice;
    bool watch = false;
  };
  const auto options = std::make_shared<Options>();
  options->choice.declare(app);
  app.add_flag("--watch", options->watch,
               "show the steps whenever they change, until all are done");
  return [options] {
    return for_each_run(options->choice.runs(), [&](const RunDirectory& run) {
      if (options->watch)
        watch(run);
      else
        print_state(run);
    });
  };
}

}  // namespace bench::cli
