#include "machine/fixture.hpp"
#include "support/patience.hpp"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <bench/base/outcome.hpp>
#include <bench/base/process.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/orphans.hpp>

namespace bench::machine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// An attempt whose bench is gone while its process still runs.
class OrphanTest : public LocalFixture {
 protected:
  OrphanTest() {
    const Job left = bare_job();
    const auto output =
        run_command({.arguments = {"/bin/sh", "-c", "sleep 1000 >&- 2>&- & echo $!"},
                     .directory = {},
                     .environment = left.environment},
                    support::far_too_long_s);
    pid_ = std::stoi(output.standard_output);
  }
  ~OrphanTest() override { ::kill(pid_, SIGKILL); }

  int pid_ = -1;
};

TEST_F(OrphanTest, IsFoundByItsAttempt) {
  const std::map<std::string, std::vector<int>> found =
      find_orphans({uuid_, "00000000-0000-4000-8000-000000000000"});
  EXPECT_THAT(found, ElementsAre(Pair(uuid_, ElementsAre(pid_))));
  EXPECT_THAT(find_orphans({"00000000-0000-4000-8000-000000000000"}), IsEmpty());
  EXPECT_THAT(find_orphans({}), IsEmpty());
}

TEST_F(OrphanTest, IsEnded) {
  EXPECT_TRUE(is_alive(pid_));
  end_processes({pid_});
  EXPECT_FALSE(is_alive(pid_));
  EXPECT_THAT(find_orphans({uuid_}), IsEmpty());
}

TEST_F(OrphanTest, TellsByItsSentinelOnceAdopted) {
  const Job left = bare_job();
  backend_.adopt(left, {pid_});
  EXPECT_EQ(backend_.active(), 1U);
  EXPECT_THAT(backend_.wait(0), IsEmpty());
  directory_.write("sentinel", "attempt=" + uuid_ + "\nexit_code=0\n");
  end_processes({pid_});
  const Completion completion = next();
  EXPECT_TRUE(completion.success());
  EXPECT_EQ(completion.workpackage, 7);
}

TEST_F(OrphanTest, IsNotWaitedForOnceItsAttemptHasEnded) {
  backend_.adopt(bare_job(), {pid_});
  directory_.write("sentinel", "attempt=" + uuid_ + "\nexit_code=0\n");
  EXPECT_TRUE(next().success());
  EXPECT_TRUE(is_alive(pid_)) << "left in the background, as any command may do";
}

TEST_F(OrphanTest, IsEndedAtItsTimeout) {
  Job left = bare_job();
  left.timeout_s = 100;
  backend_.adopt(left, {pid_}, 99.9);
  const Completion completion = next();
  EXPECT_TRUE(completion.outcome == Outcome::timeout);
  EXPECT_EQ(completion.reason, "timeout after 1 min 40 s");
  EXPECT_FALSE(is_alive(pid_));
}

TEST_F(OrphanTest, CountsAsInterruptedWithoutASentinel) {
  backend_.adopt(bare_job(), {pid_});
  end_processes({pid_});
  const Completion completion = next();
  EXPECT_TRUE(completion.outcome == Outcome::interrupted);
  EXPECT_FALSE(completion.success());
  EXPECT_EQ(completion.reason, "its processes are gone without a sentinel");
}

TEST_F(OrphanTest, IsEndedWithWhatItsBackendAbandons) {
  backend_.adopt(bare_job(), {pid_});
  EXPECT_THAT(backend_.terminate_all(), ElementsAre(7));
  EXPECT_FALSE(is_alive(pid_));
}

}  // namespace
}  // namespace bench::machine
