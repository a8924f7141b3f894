#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/base/host.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::workspace {
namespace {

using support::error_of;
using support::TempDirectory;

TEST(WriterLock, NamesItsHolderToEverybodyElse) {
  const TempDirectory directory;
  const WriterLock held(directory.path());
  const std::string said = error_of([&] { WriterLock second(directory.path()); });
  EXPECT_TRUE(said.starts_with("error: another bench is working on " + directory.path().string() +
                               ": process " + std::to_string(::getpid()) + " on " + host_name() +
                               ", since 20"))
      << said;
  EXPECT_TRUE(
      said.ends_with("\nhint: wait for it; `bench status` and `bench result` work meanwhile"))
      << said;
}

TEST(WriterLock, IsNotTakenFromItsHolderByThoseWhoOnlyAsk) {
  const TempDirectory directory;
  {
    const auto held = WriterLock::take_if_free(directory.path());
    EXPECT_TRUE(held.has_value());
    EXPECT_FALSE(WriterLock::take_if_free(directory.path()).has_value());
  }
  EXPECT_TRUE(WriterLock::take_if_free(directory.path()).has_value());
}

/// Whether another process may lock the file for writing.
bool is_free_for_another_process(const std::filesystem::path& file) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    struct flock asked {};
    asked.l_type = F_WRLCK;
    asked.l_whence = SEEK_SET;
    const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    ::_exit(::fcntl(fd, F_GETLK, &asked) == 0 && asked.l_type == F_UNLCK ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

TEST(WriterLock, TakesNoLockOfSqliteAway) {
  const TempDirectory directory;
  { const WriterLock of_an_earlier_bench(directory.path()); }
  const Workspace workspace = Workspace::create(directory.path(), {{"a", "b"}});
  EXPECT_EQ(workspace.fact("a"), "b");
  ASSERT_FALSE(is_free_for_another_process(directory.path() / "workspace.db"));
  EXPECT_TRUE(WriterLock::take_if_free(directory.path()).has_value());
  EXPECT_FALSE(is_free_for_another_process(directory.path() / "workspace.db"));
}

TEST(WriterLock, TellsWhoWorksOnARunWithoutBeingTouched) {
  const TempDirectory directory;
  EXPECT_FALSE(worker_of(directory.path()).has_value());
  {
    const WriterLock held(directory.path());
    const auto worker = worker_of(directory.path());
    ASSERT_TRUE(worker.has_value());
    EXPECT_TRUE(worker->sure);
    EXPECT_TRUE(worker->name.starts_with("process " + std::to_string(::getpid()) + " on "));
  }
  EXPECT_FALSE(worker_of(directory.path()).has_value());
  directory.write("workspace.lock", "process 1 on elsewhere, since 2026-01-31 13:05:09\n");
  ASSERT_TRUE(worker_of(directory.path()).has_value());
  EXPECT_FALSE(worker_of(directory.path())->sure);
}

TEST(WriterLock, IsFreeAgainWhenItsHolderGoes) {
  const TempDirectory directory;
  { const WriterLock held(directory.path()); }
  EXPECT_EQ(error_of([&] { WriterLock second(directory.path()); }), "(no error)");
}

TEST(WriterLock, IsFreeAgainWhenItsHolderIsKilled) {
  const TempDirectory directory;
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const int holder = ::fork();
  ASSERT_GE(holder, 0);
  if (holder == 0) {
    const WriterLock held(directory.path());
    if (::write(pipe[1], "x", 1) == 1)
      ::pause();
    ::_exit(1);
  }
  char byte = 0;
  EXPECT_EQ(::read(pipe[0], &byte, 1), 1);
  const std::string said = error_of([&] { WriterLock second(directory.path()); });
  EXPECT_NE(said.find("process " + std::to_string(holder) + " on "), std::string::npos) << said;
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  EXPECT_EQ(error_of([&] { WriterLock third(directory.path()); }), "(no error)");
  ::close(pipe[0]);
  ::close(pipe[1]);
}

// On another host a name is all there is to see.
TEST(WriterLock, TakesItsNameOutOfTheFile) {
  const TempDirectory directory;
  { const WriterLock held(directory.path()); }
  EXPECT_EQ(read_file(directory.path() / "workspace.lock"), "\n");
  const UniqueFd other(::open((directory.path() / "workspace.lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(worker_of(directory.path())->name, "a process on " + host_name());
  EXPECT_EQ(error_of([&] { WriterLock second(directory.path()); }),
            "error: another bench is working on " + directory.path().string() +
                "\nhint: wait for it; `bench status` and `bench result` work meanwhile");
}

TEST(WriterLock, SaysWhyItCannotBeTaken) {
  EXPECT_EQ(error_of([] { WriterLock lock("/no/such"); }),
            "error: cannot open /no/such/workspace.lock: No such file or directory\n"
            "hint: this run can be read, but not continued, by you");
}

}  // namespace
}  // namespace bench::workspace
