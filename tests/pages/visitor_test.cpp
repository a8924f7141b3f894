#include "pages/visitor.hpp"

#include <string>

#include <gmock/gmock.h>

namespace bench::pages {
namespace {

TEST(VisitorTest, TokensAreLongAndDiffer) {
  EXPECT_EQ(random_token().size(), 32U);
  EXPECT_NE(random_token(), random_token());
}

TEST(VisitorTest, OnlyTheSameSecretIsTheSame) {
  EXPECT_TRUE(is_same_secret("abc", "abc"));
  for (const char* other : {"", "ab", "abd", "abcd", "xbc"})
    EXPECT_FALSE(is_same_secret("abc", other)) << other;
}

TEST(VisitorTest, FindsACookieByItsWholeName) {
  const struct {
    const char* header;
    const char* value;
  } cases[] = {{"t=1", "1"}, {"a=2; t=1", "1"}, {"t=1;t=2", "1"}, {"xt=1", ""},
               {"", ""},     {"t", ""},         {"t=", ""},       {"a=t=1", ""}};
  for (const auto& [header, value] : cases)
    EXPECT_EQ(cookie_of(header, "t"), value) << header;
}

TEST(VisitorTest, KnowsTheNamesOfThisMachine) {
  for (const char* host : {"127.0.0.1", "127.0.0.1:8080", "localhost", "LocalHost:1", "[::1]:9"})
    EXPECT_TRUE(is_loopback_name(host)) << host;
  for (const char* host : {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                           "127.0.0.1:80@evil.example", "evil.example:127", "127.0.0.2", ":80"})
    EXPECT_FALSE(is_loopback_name(host)) << host;
}

}  // namespace
}  // namespace bench::pages
