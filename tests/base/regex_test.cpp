#include "support/error_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/regex.hpp>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

TEST(Regex, FindsGroupsByNumberAndName) {
  const Regex line(R"((?<id>\d+)(?:\.(?<host>\w+))? (?<state>\w))");
  const auto found = line.search("  12 R");
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[0], "12 R");
  EXPECT_EQ((*found)["id"], "12");
  EXPECT_EQ((*found)["host"], "") << "took no part";
  EXPECT_EQ((*found)["state"], "R");
  EXPECT_EQ((*found)["queue"], "") << "there is no such group";
  EXPECT_FALSE(line.search("no job"));
}

TEST(Regex, KnowsItsGroups) {
  const Regex line(R"(\((?<id>[(]x)(?=y)(?:z)(w))");
  EXPECT_EQ(line.groups(), 2);
  EXPECT_TRUE(line.has_group("id"));
  EXPECT_FALSE(line.has_group("state"));
}

TEST(Regex, FindsAll) {
  EXPECT_THAT(Regex("gpu:(\\d+)").find_all("gpu:4,ipu:2,gpu:8"), ElementsAre("4", "8"));
  EXPECT_THAT(Regex("(x*)").find_all("ax"), ElementsAre("", "x", ""));
  EXPECT_THAT(Regex("(x)").find_all(""), IsEmpty());
}

TEST(Regex, AWrongOneIsAnError) {
  EXPECT_THAT(support::error_of([] { const Regex wrong("(a"); }),
              StartsWith("error: '(a' is not a regular expression: "));
}

}  // namespace
}  // namespace bench
