#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::pages {

/// Summary of a run for lists.
struct RunSummary {
  std::string name;  ///< Its path below the served directory: `runs/000003`; `.`: that itself.
  workspace::RunDirectory directory;
  std::string benchmark;
  std::string comment;
  std::string platform;
  std::string started;  ///< In the reader's time zone.
  std::optional<double> started_unix_s;
  std::string unreadable;   ///< Reason; empty if the run is readable.
  std::string last_change;  ///< In the reader's time zone.
  std::optional<double> last_change_unix_s;
  std::vector<workspace::StepCounts> steps;

  std::string outpath() const;
  /// Of all steps.
  workspace::StepCounts counts() const;
};

/// A word of workspace::RunState, or `unreadable`.
std::string state_of(const RunSummary& run);
/// Whether no work is left and no process is working on it.
bool is_final(const std::string& state);

/// Time from its start to its last change, or to now if it is in progress: `4 min 05 s`; empty if
/// unknown.
std::string elapsed_text(const RunSummary& run, const std::string& state);

/// Runs `action` and catches its Error, so that one unreadable run does not hide the others.
/// @returns the error and its hint in one line; empty on success
std::string reason_of_failure(const std::function<void()>& action);

/// Changes when the records of a run change: made of inode numbers, sizes and times.
std::string stamp_of(const std::filesystem::path& run_directory);

/// The runs below a directory. Does not follow links. Summaries are cached until the records of a
/// run change.
class RunIndex {
 public:
  /// @param root canonical
  explicit RunIndex(std::filesystem::path root) : root_(std::move(root)) {}

  /// By name; runs of an outpath by id.
  std::vector<std::shared_ptr<const RunSummary>> all();
  /// Null if there is none.
  std::shared_ptr<const RunSummary> find(const std::string& name);
  /// Whether there were more directories than the search limit.
  bool is_cut_short() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Known {
    std::string stamp;
    std::shared_ptr<const RunSummary> summary;
  };

  /// Searches for runs, unless it did so a moment ago. The caller holds the lock.
  const std::map<std::string, workspace::RunDirectory>& directories();
  std::shared_ptr<const RunSummary> read(const std::string& name,
                                         const workspace::RunDirectory& directory);

  std::filesystem::path root_;
  mutable std::mutex mutex_;
  Clock::time_point next_look_{};
  std::map<std::string, workspace::RunDirectory> directories_;
  std::map<std::string, Known> known_;
  bool cut_short_ = false;
};

}  // namespace bench::pages
