#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::serve {

/// What a list says of a run.
struct RunSummary {
  std::string name;  ///< Its path below the served directory: `runs/000003`; `.`: that itself.
  workspace::RunDirectory directory;
  std::string benchmark;
  std::string comment;
  std::string platform;
  std::string started;      ///< Local time.
  std::string unreadable;   ///< Why; empty: it can be read.
  std::string last_change;  ///< Local time.
  std::vector<workspace::StepCounts> steps;

  std::string outpath() const;
  /// Of all steps.
  workspace::StepCounts counts() const;
};

/// `running` while a bench works on it, `submitted` where only jobs are left, `stopped` where
/// nobody works on what is left, `failed` where a workpackage has, `finished`, `unreadable`.
std::string state_of(const RunSummary& run);
/// Whether nothing is left to do and nobody works on it.
bool is_final(const std::string& state);

/// From its start to its last change, or to now while it goes on: `4 min 05 s`; empty: unknown.
std::string elapsed_text(const RunSummary& run, const std::string& state);

/// Equal as long as the records of a run are: file numbers, sizes and times.
std::string stamp_of(const std::filesystem::path& run_directory);

/// The runs below a directory. Links are not followed. What was read of a run is kept until its
/// records change.
class RunIndex {
 public:
  /// @param root canonical
  explicit RunIndex(std::filesystem::path root) : root_(std::move(root)) {}

  /// By name; runs of an outpath by id.
  std::vector<std::shared_ptr<const RunSummary>> all();
  /// Null if there is none.
  std::shared_ptr<const RunSummary> find(const std::string& name);
  /// Whether there were more directories than are looked through.
  bool is_cut_short() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Known {
    std::string stamp;
    std::shared_ptr<const RunSummary> summary;
  };

  /// Looks for runs, unless that was a moment ago. The caller holds the lock.
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

}  // namespace bench::serve
