#include "support/eventually.hpp"
#include "support/vfork.hpp"

#include <thread>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bench/base/proc.hpp>
#include <bench/base/process.hpp>

namespace bench {
namespace {

using support::eventually;

TEST(Proc, AProcessIsAliveUntilItHasEndedAlsoBeforeItIsReaped) {
  EXPECT_TRUE(is_alive(::getpid()));
  const int child = ::fork();
  if (child == 0)
    ::_exit(0);
  EXPECT_TRUE(eventually([&] { return !is_alive(child); })) << "a zombie";
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_alive(child));
}

// The kernel refuses to read a file that was opened before its process was reaped.
TEST(Proc, AProcessMayGoWhileItsFilesAreRead) {
  for (int k = 0; k < 300; ++k) {
    const int child = ::fork();
    if (child == 0)
      ::_exit(0);
    std::thread reaper([child] { ::waitpid(child, nullptr, 0); });
    EXPECT_NO_THROW(while (::kill(child, 0) == 0) {
      is_alive(child);
      variable_of(child, "ONE");
    });
    reaper.join();
  }
}

TEST(Proc, AVariableIsThatOfTheProgramsBegin) {
  if (!support::has_vfork())
    GTEST_SKIP() << "vfork is fork here, so a child may not have begun its program";
  Process sleeper({.arguments = {"/bin/sleep", "1000"},
                   .directory = {},
                   .environment = Environment{{"ONE", "1=2"}, {"ONE_MORE", ""}}});
  EXPECT_EQ(variable_of(sleeper.pid(), "ONE"), "1=2");
  EXPECT_EQ(variable_of(sleeper.pid(), "ONE_MORE"), "");
  EXPECT_EQ(variable_of(sleeper.pid(), "ON"), "");
}

TEST(Proc, ProcessesWithoutVariablesAreNotWaitedFor) {
  Process sleeper(
      {.arguments = {"/bin/sleep", "1000"}, .directory = {}, .environment = Environment{}});
  EXPECT_EQ(variable_of(sleeper.pid(), "ONE"), "");
  constexpr int of_the_kernel = 2;
  EXPECT_EQ(variable_of(of_the_kernel, "ONE"), "");
  ::kill(sleeper.pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_alive(sleeper.pid()); }));
  EXPECT_EQ(variable_of(sleeper.pid(), "ONE"), "") << "a zombie";
}

// One that begins has no environment yet, for microseconds: seen only where that is waited for.
TEST(Proc, AVariableIsSeenFromTheFirstMomentOfAProgram) {
  if (!support::has_vfork())
    GTEST_SKIP() << "vfork is fork here, so a child may not have begun its program";
  for (int k = 0; k < 200; ++k) {
    Process sleeper({.arguments = {"/bin/sleep", "1000"},
                     .directory = {},
                     .environment = Environment{{"ONE", "1"}}});
    ASSERT_EQ(variable_of(sleeper.pid(), "ONE"), "1") << "process " << k;
  }
}

}  // namespace
}  // namespace bench
