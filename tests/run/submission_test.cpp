#include "run/submission.hpp"

#include <chrono>
#include <cstddef>

#include <gtest/gtest.h>

namespace bench::run {
namespace {

class SubmissionTimingTest : public testing::Test {
 protected:
  void pass(std::chrono::seconds time) { now_ += time; }
  bool is_due(std::size_t ready, bool others_coming) {
    return timing_.is_due(ready, others_coming);
  }

  SubmissionTiming::Clock::time_point now_{std::chrono::hours(1)};
  SubmissionTiming timing_{[this] { return now_; }};
};

TEST_F(SubmissionTimingTest, SubmitsAtOnceWhereNothingElseIsComing) {
  EXPECT_TRUE(is_due(1, false));
}

TEST_F(SubmissionTimingTest, WaitsForOthersButNotForLong) {
  EXPECT_FALSE(is_due(1, true));
  pass(SubmissionTiming::longest_collection - std::chrono::seconds(1));
  EXPECT_FALSE(is_due(2, true));
  pass(std::chrono::seconds(1));
  EXPECT_TRUE(is_due(3, true));
  EXPECT_FALSE(is_due(1, true)) << "the next ones collect again";
}

TEST_F(SubmissionTimingTest, DoesNotWaitWithMany) {
  EXPECT_FALSE(is_due(SubmissionTiming::many - 1, true));
  EXPECT_TRUE(is_due(SubmissionTiming::many, true));
}

TEST_F(SubmissionTimingTest, PausesLongerAfterEachFailureUntilOneSucceeds) {
  for (const int pause_s : {2, 4, 8, 16, 32, 64, 128, 256, 300, 300}) {
    timing_.failed();
    pass(std::chrono::seconds(pause_s - 1));
    EXPECT_FALSE(is_due(1, false)) << pause_s;
    pass(std::chrono::seconds(1));
    EXPECT_TRUE(is_due(1, false)) << pause_s;
  }
  timing_.succeeded();
  timing_.failed();
  pass(SubmissionTiming::first_pause);
  EXPECT_TRUE(is_due(1, false));
}

}  // namespace
}  // namespace bench::run
