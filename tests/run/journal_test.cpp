#include "run/journal.hpp"

#include "run/store_fixture.hpp"
#include "support/environment_variable.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <bench/base/error.hpp>
#include <bench/base/outage.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using workspace::State;

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

/// No file of this process grows, as on a full disk, while this object lives.
class FullDisk {
 public:
  FullDisk() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    rlimit full = before_;
    full.rlim_cur = 0;
    ::setrlimit(RLIMIT_FSIZE, &full);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

/// Frees the disk once it is told that it is full.
class FreeingObserver : public QuietObserver {
 public:
  void notice(const std::string& message) override {
    QuietObserver::notice(message);
    disk.reset();
  }
  std::optional<FullDisk> disk;
};

class JournalTest : public StoreFixture {
 protected:
  Journal journal() { return {*store_, *workspace_, outages_, &interrupted_}; }
  std::vector<State> written() const {
    std::vector<State> states;
    for (const auto& workpackage : workspace_->workpackages())
      states.push_back(workpackage.state);
    return states;
  }

  support::EnvironmentVariable patience_{"BENCH_PATIENCE_S", "600"};
  FreeingObserver observer_;
  OutageWatch outages_{observer_};
  std::atomic<bool> interrupted_ = false;
};

TEST_F(JournalTest, TheWorkspaceKnowsNothingBeforeItIsWritten) {
  begin("step: {name: a, do: x}\n");
  journal().write();
  start_all();
  EXPECT_THAT(written(), testing::ElementsAre(State::ready));
  journal().write();
  EXPECT_THAT(written(), testing::ElementsAre(State::running));
}

TEST_F(JournalTest, WhatTheMachineRefusesIsWrittenOnceItWorksAgain) {
  begin("step: {name: a, do: x}\n");
  observer_.disk.emplace();
  journal().write();
  EXPECT_THAT(observer_.notices, SizeIs(1));
  EXPECT_THAT(written(), testing::ElementsAre(State::ready));
}

TEST_F(JournalTest, AnInterruptionEndsTheWaiting) {
  begin("step: {name: a, do: x}\n");
  interrupted_ = true;
  const FullDisk disk;
  EXPECT_THROW(journal().write(), Error);
  EXPECT_THAT(observer_.notices, SizeIs(0));
}

TEST_F(JournalTest, WithoutPatienceTheErrorIsTheCallers) {
  const support::EnvironmentVariable none("BENCH_PATIENCE_S", "0");
  begin("step: {name: a, do: x}\n");
  const FullDisk disk;
  EXPECT_THROW(journal().write(), Error);
}

}  // namespace

}  // namespace bench::run
