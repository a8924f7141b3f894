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

}  // namespace bench::workspace
