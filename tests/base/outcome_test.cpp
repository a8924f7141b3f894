#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>

namespace bench {
namespace {

TEST(Outcomes, AreFoundByTheirNames) {
  for (int k = 0; k <= static_cast<int>(Outcome::interrupted); ++k) {
    const auto outcome = static_cast<Outcome>(k);
    EXPECT_NE(name_of(outcome), "");
    EXPECT_EQ(outcome_of(name_of(outcome)), outcome);
  }
}

TEST(Outcomes, HaveNoOtherNames) {
  for (const char* word : {"", "Done", "FAILED", "node fail", "oom"})
    EXPECT_EQ(outcome_of(word), std::nullopt) << word;
}

TEST(Outcomes, AreNoReasonForAnotherAttemptWhereItIsDoneOrMadeAgainAnyway) {
  EXPECT_THAT(
      retryable_outcomes(),
      testing::ElementsAre("failed", "timeout", "node_fail", "boot_fail", "preempted",
                           "out_of_memory", "cancelled", "deadline", "launch_failure", "lost"));
}

}  // namespace
}  // namespace bench
