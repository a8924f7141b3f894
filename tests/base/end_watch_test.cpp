#include "support/eventually.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <bench/base/process.hpp>

// Where there is no pidfd a thread waits for each child: tests/CMakeLists.txt runs these tests
// again on such a kernel.
namespace bench {
namespace {

ProcessSpec shell(const std::string& script) {
  return {.arguments = {"/bin/sh", "-c", script}, .directory = {}, .environment = std::nullopt};
}

bool has_ended(const Process& process, int timeout_ms) {
  pollfd wait{process.pidfd(), POLLIN, 0};
  return ::poll(&wait, 1, timeout_ms) == 1;
}

TEST(EndWatch, TellsOfEveryOneOfManyChildren) {
  std::vector<Process> all;
  for (int k = 0; k < 50; ++k)
    all.emplace_back(shell("exit " + std::to_string(k)));
  for (int k = 49; k >= 0; --k) {
    Process& one = all[static_cast<std::size_t>(k)];
    ASSERT_TRUE(has_ended(one, 60'000));
    EXPECT_EQ(one.poll(), (ExitStatus{k, 0}));
  }
}

TEST(EndWatch, LeavesTheStatusToWhoeverAsksForIt) {
  Process process(shell("exit 7"));
  ASSERT_TRUE(has_ended(process, 60'000));
  ASSERT_TRUE(has_ended(process, 0));
  EXPECT_EQ(process.wait().code, 7);
}

TEST(EndWatch, OfAReleasedChildHoldsNobodyUp) {
  std::optional<Process> process(shell("exec sleep 1000"));
  const int pid = process->pid();
  process->release();
  process.reset();
  EXPECT_FALSE(support::is_gone(pid));
  ::kill(pid, SIGKILL);
}

TEST(EndWatch, TellsOfAChildThatIsStoppedOnlyWhenItEnds) {
  Process process(shell("kill -STOP $$; exit 5"));
  EXPECT_FALSE(has_ended(process, 50));
  while (!has_ended(process, 10))
    process.signal_group(SIGCONT);
  EXPECT_EQ(process.wait().code, 5);
}

}  // namespace
}  // namespace bench
