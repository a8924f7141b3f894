#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/space/nodes.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

workspace::Attempt attempt(long long workpackage, const std::string& reason) {
  workspace::Attempt made;
  made.workpackage = workpackage;
  made.reason = reason;
  return made;
}

TEST(FailedNodes, AreThoseOfTheAttemptsOfAWorkpackage) {
  const auto nodes = failed_nodes({attempt(1, "node a failed: x"), attempt(1, "exit code 1"),
                                   attempt(1, "node b failed: x"), attempt(1, "node a failed: y"),
                                   attempt(2, "node c failed: x"), attempt(3, "")});
  EXPECT_EQ(nodes.size(), 2U);
  EXPECT_THAT(nodes.at(1), ElementsAre("b", "a"));
  EXPECT_THAT(nodes.at(2), ElementsAre("c"));
}

TEST(FailedNodes, AreAvoidedAsLongAsOthersRemain) {
  const std::vector<std::string> failed{"a", "b", "c"};
  EXPECT_THAT(avoidable_nodes(failed, 1, 4), ElementsAre("a", "b", "c"));
  EXPECT_THAT(avoidable_nodes(failed, 2, 4), ElementsAre("b", "c"));
  EXPECT_THAT(avoidable_nodes(failed, 4, 4), IsEmpty());
  EXPECT_THAT(avoidable_nodes(failed, 9, 4), IsEmpty());
  EXPECT_THAT(avoidable_nodes(failed, 9, 0), ElementsAre("a", "b", "c")) << "nobody knows";
}

}  // namespace
}  // namespace bench::space
