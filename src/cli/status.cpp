#include "command.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/text.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::cli {
namespace {

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
                  "from here; Ctrl-C ends only this command",
                  worker->name));
}

/// Shows the state of a run whenever it changes, until it has ended or nobody works on it. On a
/// terminal the new table takes the place of the old one. It also ends when its reader
/// has gone away.
void watch(const RunDirectory& run) {
  constexpr int pause_ms = 500;
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  std::string shown;
  bool worked_on = true;
  bool told = false;
  do {
    const auto worker = workspace::worker_of(run.path);
    tell_of_worker(worker, told);
    // One bench may end just before the next one begins, so that it takes two looks.
    const bool was_worked_on = std::exchange(worked_on, worker.has_value());
    const auto counts = counts_of(run);
    const std::string table = status_table(counts);
    if (table != shown) {
      const auto lines = std::ranges::count(shown, '\n');
      if (terminal && lines > 0)
        move_cursor(fmt::format("\x1b[{}A\x1b[J", lines));
      print(table);
      shown = table;
    }
    if (status_word(counts) != "RUNNING") {
      print(status_word(counts) + "\n");
      return;
    }
    if (!worked_on && !was_worked_on) {
      print(status_word(counts) + "\n");
      tell(fmt::format(
          "note: no bench process is working on this run; resume with: bench continue {} -i {}{}",
          shell_quote(short_path(std::filesystem::absolute(run.path).parent_path())), run.id,
          has_jobs(counts) ? " --wait" : ""));
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
    for (const RunDirectory& run : options->choice.runs())
      if (options->watch)
        watch(run);
      else
        print(status_word(counts_of(run)) + "\n");
    return 0;
  };
}

}  // namespace bench::cli
