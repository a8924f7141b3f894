#include "run/store_fixture.hpp"

#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/run/loop.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {
namespace {

using testing::ElementsAre;
using workspace::StepCounts;

class RunStatusTest : public StoreFixture {
 protected:
  std::optional<RunStatus> status() {
    write();
    return status_if_finished(run_, *workspace_);
  }
};

constexpr const char* two_steps =
    "parameterset: {name: p, parameter: {n: [1, 2]}}\n"
    "step: [{name: a, use: p, do: x}, {name: b, depend: a, do: x}]\n";

TEST_F(RunStatusTest, ARunWithReadyWorkpackagesIsNotFinished) {
  begin(two_steps);
  EXPECT_EQ(status(), std::nullopt);
}

TEST_F(RunStatusTest, ARunWhoseChildrenAreStillToBeMadeIsNotFinished) {
  begin(two_steps);
  for (const long long id : start_all())
    end(id);
  EXPECT_EQ(status(), std::nullopt);
}

TEST_F(RunStatusTest, AFinishedRunIsCountedByStepInTheOrderOfTheFile) {
  begin(two_steps);
  for (const long long id : start_all())
    end(id);
  release();
  const auto children = start_all();
  end(children.at(0));
  end(children.at(1), Outcome::failed);
  const auto finished = status();
  ASSERT_TRUE(finished);
  EXPECT_THAT(finished->counts, ElementsAre(StepCounts{.step = "a", .done = 2},
                                            StepCounts{.step = "b", .done = 1, .failed = 1}));
  EXPECT_EQ(finished->failed(), 1);
  EXPECT_EQ(finished->open(), 0);
}

TEST_F(RunStatusTest, AStepThatNothingReachedIsCountedAsEmpty) {
  begin(two_steps);
  for (const long long id : start_all())
    end(id, Outcome::failed);
  const auto finished = status();
  ASSERT_TRUE(finished);
  EXPECT_THAT(finished->counts,
              ElementsAre(StepCounts{.step = "a", .failed = 2}, StepCounts{.step = "b"}));
}

TEST_F(RunStatusTest, WhatHasNotEndedIsOpen) {
  const RunStatus status{.counts = {{.step = "a", .ready = 1, .running = 2, .done = 3},
                                    {.step = "b", .submitted = 4, .waiting = 5, .failed = 6}}};
  EXPECT_EQ(status.open(), 12);
  EXPECT_EQ(status.failed(), 6);
}

// The store knows them as submitted; the batch system knows more.
TEST_F(RunStatusTest, JobsThatTheBatchSystemRunsAreShownAsRunning) {
  const std::vector<StepCounts> counts{{.step = "a", .running = 1, .submitted = 3},
                                       {.step = "b", .submitted = 2}};
  EXPECT_THAT(with_running_jobs(counts, {{"a", 2}, {"b", 9}, {"gone", 1}}),
              ElementsAre(StepCounts{.step = "a", .running = 3, .submitted = 1},
                          StepCounts{.step = "b", .running = 2}));
}

}  // namespace
}  // namespace bench::run
