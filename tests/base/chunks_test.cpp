#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/chunks.hpp>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<int> five{1, 2, 3, 4, 5};

TEST(ChunksTest, KeepTheOrderAndEndWithTheRest) {
  EXPECT_THAT(chunks_of(five, 2),
              ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4), ElementsAre(5)));
}

TEST(ChunksTest, AreOneWhereAllFit) {
  EXPECT_THAT(chunks_of(five, 5), ElementsAre(ElementsAre(1, 2, 3, 4, 5)));
}

TEST(ChunksTest, AreNoneOfNothing) {
  const std::vector<int> nothing;
  EXPECT_THAT(chunks_of(nothing, 3), IsEmpty());
}

TEST(ChunksTest, HaveAtLeastOneItem) {
  EXPECT_EQ(chunks_of(five, 0).size(), 5U);
}

}  // namespace
}  // namespace bench
