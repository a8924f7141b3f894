#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <cerrno>

#include <gtest/gtest.h>

#include <bench/base/outage.hpp>

namespace bench {
namespace {

using support::EnvironmentVariable;
using support::error_of;

TEST(Outage, IsWaitedOutWhileThePatienceLasts) {
  const EnvironmentVariable patience("BENCH_PATIENCE_S", "1000");
  Outage outage;
  EXPECT_FALSE(outage.lasts());
  EXPECT_TRUE(outage.try_again());
  EXPECT_TRUE(outage.lasts());
  const double first_s = outage.seconds_to_retry();
  EXPECT_GT(first_s, 0);
  for (int k = 0; k < 20; ++k)
    EXPECT_TRUE(outage.try_again());
  EXPECT_GT(outage.seconds_to_retry(), first_s) << "less and less often";
  outage.end();
  EXPECT_FALSE(outage.lasts());
  EXPECT_EQ(outage.seconds_to_retry(), 0);
}

TEST(Outage, IsGivenUpWithoutPatience) {
  const EnvironmentVariable patience("BENCH_PATIENCE_S", "0");
  Outage outage;
  EXPECT_FALSE(outage.try_again());
  EXPECT_FALSE(outage.lasts());
}

TEST(Outage, WantsANumberOfSeconds) {
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
  EXPECT_FALSE(is_fault_of_machine(Error("a mistake"), directory.path()));
}

}  // namespace
}  // namespace bench
