#pragma once

#include <filesystem>
#include <optional>

#include <bench/base/unique_fd.hpp>

namespace bench::workspace {

/// The right to write one workspace, held for as long as this object lives. The kernel releases it
/// when the process dies, however it dies, so a dead holder never blocks anybody.
class WriterLock {
 public:
  /// Takes the lock of a run directory without waiting.
  /// @throws Error naming host, process and start of the holder if another process has it
  explicit WriterLock(const std::filesystem::path& run_directory);

  /// The same for those who can do without: nothing if another process has it.
  /// @throws Error if the lock file cannot be opened or written
  static std::optional<WriterLock> take_if_free(const std::filesystem::path& run_directory);

 private:
  explicit WriterLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace bench::workspace
