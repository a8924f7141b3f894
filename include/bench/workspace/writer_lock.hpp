#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <bench/base/unique_fd.hpp>

namespace bench::workspace {

/// The right to write one workspace, held for as long as this object lives. The kernel releases it
/// when the process dies, however it dies, so a dead holder never blocks anybody.
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
  explicit WriterLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

/// Who works on a run, told without touching its lock.
struct Worker {
  std::string name;   ///< `process 7 on node1, since 2026-01-31 13:05:09`.
  bool sure = false;  ///< On another host only the name that the last one left is known.
};

/// Nothing where nobody works on the run.
std::optional<Worker> worker_of(const std::filesystem::path& run_directory);

}  // namespace bench::workspace
