#include "run/outage_watch.hpp"

#include "run/quiet_observer.hpp"
#include "support/environment_variable.hpp"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/outage.hpp>

namespace bench::scheduler {
namespace {

using testing::ElementsAre;

class OutageWatchTest : public testing::Test {
 protected:
  support::EnvironmentVariable patience_{"BENCH_PATIENCE_S", "20"};
  QuietObserver observer_;
  Outage::Clock::time_point now_{std::chrono::hours(1)};
  OutageWatch watch_{observer_, [this] { return now_; }};
};

TEST_F(OutageWatchTest, TellsOnceOfWhatTheMachineRefuses) {
  EXPECT_TRUE(watch_.try_again("the disk is full"));
  EXPECT_TRUE(watch_.try_again("the disk is full still"));
  EXPECT_THAT(observer_.notices, ElementsAre("the disk is full; bench tries again for 20.0 s"));
}

TEST_F(OutageWatchTest, TellsOfTheNextOutageAgain) {
  watch_.try_again("the disk is full");
  watch_.end();
  EXPECT_FALSE(watch_.lasts());
  watch_.tell("no processes");
  EXPECT_THAT(observer_.notices, ElementsAre("the disk is full; bench tries again for 20.0 s",
                                             "no processes; bench tries again for 20.0 s"));
}

TEST_F(OutageWatchTest, LeavesItToTheCallerToTellOfWhatItGivesUp) {
  const support::EnvironmentVariable none("BENCH_PATIENCE_S", "0");
  EXPECT_FALSE(watch_.try_again("the disk is full"));
  EXPECT_THAT(observer_.notices, testing::IsEmpty());
}

TEST_F(OutageWatchTest, LetsNothingStartBeforeItIsTimeToTryAgain) {
  EXPECT_TRUE(watch_.lets_start());
  watch_.try_again("the disk is full");
  EXPECT_FALSE(watch_.lets_start());
  now_ += std::chrono::seconds(1);
  EXPECT_TRUE(watch_.lets_start());
  EXPECT_TRUE(watch_.lasts()) << "nothing has worked yet";
}

// One may need something that others do not.
TEST_F(OutageWatchTest, LetsOthersStartUntilThreeInARowCouldNot) {
  for (int k = 0; k < 2; ++k)
    watch_.give_up_start();
  EXPECT_TRUE(watch_.lets_start());
  watch_.end();
  for (int k = 0; k < 2; ++k)
    watch_.give_up_start();
  EXPECT_TRUE(watch_.lets_start()) << "one has started in between";
  watch_.give_up_start();
  EXPECT_FALSE(watch_.lets_start());
}

}  // namespace
}  // namespace bench::scheduler
