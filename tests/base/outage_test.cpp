#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/error.hpp>
#include <bench/base/outage.hpp>

namespace bench {
namespace {

using support::EnvironmentVariable;
using support::error_of;

class OutageTest : public testing::Test {
 protected:
  /// The pause after each failure, each tried again as soon as it may be, until it is given up.
  std::vector<int> pauses_ms() {
    std::vector<int> all;
    while (outage_.try_again()) {
      const std::chrono::duration<double> pause(outage_.seconds_to_retry());
      all.push_back(static_cast<int>(std::lround(1000 * pause.count())));
      now_ += std::chrono::milliseconds(all.back());
    }
    return all;
  }

  Outage::Clock::time_point now_{std::chrono::hours(1)};
  Outage outage_{[this] { return now_; }};
};

TEST_F(OutageTest, IsTriedAgainLessAndLessOftenWhileThePatienceLasts) {
  const EnvironmentVariable patience("BENCH_PATIENCE_S", "20");
  EXPECT_THAT(pauses_ms(), testing::ElementsAre(100, 200, 400, 800, 1600, 3200, 5000, 5000, 3700));
  EXPECT_FALSE(outage_.lasts());
}

TEST_F(OutageTest, IsOverWhereTheMachineWorks) {
  const EnvironmentVariable patience("BENCH_PATIENCE_S", "20");
  EXPECT_FALSE(outage_.lasts());
  EXPECT_TRUE(outage_.try_again());
  EXPECT_TRUE(outage_.try_again());
  EXPECT_TRUE(outage_.lasts());
  outage_.end();
  EXPECT_FALSE(outage_.lasts());
  EXPECT_EQ(outage_.seconds_to_retry(), 0);
  now_ += std::chrono::hours(1);
  EXPECT_TRUE(outage_.try_again()) << "a later outage has all the patience";
  EXPECT_DOUBLE_EQ(outage_.seconds_to_retry(), 0.1);
}

TEST_F(OutageTest, IsGivenUpWithoutPatience) {
  const EnvironmentVariable patience("BENCH_PATIENCE_S", "0");
  EXPECT_FALSE(outage_.try_again());
  EXPECT_FALSE(outage_.lasts());
}

TEST_F(OutageTest, IsNeverGivenUpWithEndlessPatience) {
  const EnvironmentVariable patience("BENCH_PATIENCE_S", "inf");
  EXPECT_TRUE(outage_.try_again());
  EXPECT_DOUBLE_EQ(outage_.seconds_to_retry(), 0.1);
}

TEST(OutagePatience, IsANumberOfSeconds) {
  for (const char* wrong : {"soon", "-1", "nan"}) {
    const EnvironmentVariable patience("BENCH_PATIENCE_S", wrong);
    EXPECT_EQ(
        error_of([] { outage_patience_s(); }),
        "error: BENCH_PATIENCE_S is '" + std::string(wrong) +
            "'\nhint: give the seconds that bench waits for a machine that refuses something");
  }
}

TEST(IsFaultOfMachine, TellsTheMachineFromWhatWasAsked) {
  const support::TempDirectory directory;
  for (const int error : {ENOSPC, EIO, ENOTCONN, ESHUTDOWN, ETIMEDOUT, EHOSTDOWN, EBUSY, ENOLCK,
                          ESTALE, EMFILE, EACCES, EAGAIN})
    EXPECT_TRUE(is_fault_of_machine(Error::of_system("x", error), directory.path())) << error;
  for (const int error : {ENOENT, EEXIST, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG, EINVAL}) {
    EXPECT_FALSE(is_fault_of_machine(Error::of_system("x", error), directory.path())) << error;
    EXPECT_TRUE(is_fault_of_machine(Error::of_system("x", error), directory.path() / "renamed"));
  }
  EXPECT_FALSE(is_fault_of_machine(Error(Id::invalid_value, "a mistake"), directory.path()));
}

}  // namespace
}  // namespace bench
