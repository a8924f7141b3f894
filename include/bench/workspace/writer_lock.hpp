#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <bench/base/unique_fd.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::workspace {

/// The right to write one workspace, held for as long as this object lives. The kernel releases it
/// when the process dies, however it dies, so a dead holder never blocks anybody. A holder that
/// ends in order takes its name out of the file, so that other hosts see that nobody works on the
/// run.
class WriterLock {
 public:
  /// Takes the lock of a run directory without waiting.
  /// @throws Error naming host, process and start of the holder if another process has it
  explicit WriterLock(const std::filesystem::path& run_directory);

  /// The same for those who can do without: nothing if another process has it, or if
  /// the file system has no locks.
  /// @throws Error if the lock file cannot be opened or written
  static std::optional<WriterLock> take_if_free(const std::filesystem::path& run_directory);

 private:
  struct Release {
    void operator()(UniqueFd* file) const;
  };

  explicit WriterLock(UniqueFd file) : file_(new UniqueFd(std::move(file))) {}

  std::unique_ptr<UniqueFd, Release> file_;
};

/// Who works on a run, told without touching its lock.
struct Worker {
  std::string name;   ///< `process 7 on node1, since 2026-01-31 13:05:09`.
  bool sure = false;  ///< Of another host only the name is known, which a killed one leaves, too.
};

/// Nothing where nobody works on the run.
std::optional<Worker> worker_of(const std::filesystem::path& run_directory);

/// The state of a run. `running`: a bench works on it, its jobs are with a batch system, or a
/// workpackage waits for its `done_file`. `stopped`: work is left, but no bench works on it.
/// `finished` or `failed`: every workpackage has ended, none or some of them as failed.
enum class RunState { running, stopped, finished, failed };

/// `running`, ...: the words in every message.
std::string_view name_of(RunState state);

/// @param sum the workpackages of all its steps
RunState run_state(const std::filesystem::path& run_directory, const StepCounts& sum);

}  // namespace bench::workspace
