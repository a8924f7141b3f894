#include "support/temp_directory.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::insight {
namespace {

using support::TempDirectory;

TEST(RunState, FollowsFromTheWorkerAndTheWorkpackages) {
  const std::string away = "process 7 on far, since 2026-01-31 13:05:09\n";
  const struct {
    workspace::StepCounts counts;
    std::string lock;  ///< Content of workspace.lock.
    RunState expected;
  } cases[] = {
      {{.done = 3}, "\n", RunState::finished},
      {{.done = 1, .skipped = 1}, "\n", RunState::finished},
      {{.done = 2, .failed = 1}, "\n", RunState::failed},
      {{.ready = 1, .failed = 1}, "\n", RunState::stopped},
      {{.running = 1}, "\n", RunState::stopped},  // its bench was killed
      {{.submitted = 1, .done = 2}, "\n", RunState::running},
      {{.running = 1}, away, RunState::running},
      {{.done = 3}, away, RunState::finished},
  };
  const TempDirectory directory;
  for (const auto& one : cases) {
    write_file_atomically(directory.path() / "workspace.lock", one.lock);
    EXPECT_EQ(run_state({.path = directory.path()}, {one.counts}), one.expected)
        << text_of(one.counts) << one.lock;
  }
  std::filesystem::remove(directory.path() / "workspace.lock");
  const workspace::WriterLock here(directory.path());
  EXPECT_EQ(run_state({.path = directory.path()}, {{.done = 3}}), RunState::running);
}

}  // namespace
}  // namespace bench::insight
