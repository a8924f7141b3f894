#include <chrono>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/uuid.hpp>

namespace bench {
namespace {

TEST(Uuid, IsOfVersion7) {
  EXPECT_THAT(
      make_uuid(),
      testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
}

TEST(Uuid, BeginsWithTheMilliseconds) {
  const auto now_ms = [] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  const auto before_ms = now_ms();
  const std::string uuid = make_uuid();
  const long long ms = std::stoll(uuid.substr(0, 8) + uuid.substr(9, 4), nullptr, 16);
  EXPECT_GE(ms, before_ms);
  EXPECT_LE(ms, now_ms());
}

TEST(Uuid, IsAnotherEachTime) {
  std::set<std::string> all;
  for (int k = 0; k < 1000; ++k)
    all.insert(make_uuid());
  EXPECT_EQ(all.size(), 1000U);
}

TEST(Uuid, IsToldFromOtherText) {
  EXPECT_TRUE(is_uuid(make_uuid()));
  for (const char* text :
       {"", "for Anna", "01234567-89ab-7def-8123-456789abcde",
        "01234567-89ab-7def-8123-456789abcdefa", "01234567089ab-7def-8123-456789abcdef",
        "0123456x-89ab-7def-8123-456789abcdef"})
    EXPECT_FALSE(is_uuid(text)) << text;
}

}  // namespace
}  // namespace bench
