#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/escaped_list.hpp>
#include <bench/base/text.hpp>

namespace bench {
namespace {

using testing::ElementsAre;

TEST(EscapedList, SplitsAtCommas) {
  EXPECT_THAT(split_escaped(" nodes=1, kind = x,,"), ElementsAre("nodes=1", "kind = x"));
  EXPECT_THAT(split_escaped(R"(v=x\,y,n=1)"), ElementsAre("v=x,y", "n=1"));
  EXPECT_THAT(split_escaped(R"(dir=C:\a,n=1)"), ElementsAre(R"(dir=C:\a)", "n=1"));
}

TEST(EscapedList, GivesBackWhatWasEscaped) {
  const std::vector<std::string> items{"v=x,y", R"(a\,b\)", R"(\\)", "n=1"};
  std::vector<std::string> list;
  for (const std::string& item : items)
    list.push_back(escaped(item));
  EXPECT_EQ(split_escaped(join(list, ",")), items);
}

}  // namespace
}  // namespace bench
