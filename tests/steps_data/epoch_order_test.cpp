#include "data/sample_loader.hpp"
#include "harness/program.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using Items = std::vector<std::uint64_t>;

Items epoch(EpochOrder& order, std::uint64_t items, std::uint64_t number) {
  Items result;
  for (std::uint64_t sample = number * items; sample < (number + 1) * items; ++sample)
    result.push_back(order.item(sample));
  return result;
}

Items all_items(std::uint64_t items) {
  Items result(items);
  std::iota(result.begin(), result.end(), 0U);
  return result;
}

TEST(EpochOrder, HoldsEachItemOnceInEveryEpoch) {
  EpochOrder order(1000, 7);
  for (const std::uint64_t number : {0U, 1U, 5U, 4U})
    EXPECT_THAT(epoch(order, 1000, number), testing::UnorderedElementsAreArray(all_items(1000)));
}

TEST(EpochOrder, IsAnotherOneInEachEpochAndForEachSeed) {
  EpochOrder order(100, 7);
  EpochOrder other(100, 8);
  const Items first = epoch(order, 100, 0);
  EXPECT_NE(first, all_items(100));
  EXPECT_NE(first, epoch(order, 100, 1));
  EXPECT_NE(first, epoch(other, 100, 0));
  EXPECT_EQ(first, epoch(order, 100, 0));
}

TEST(EpochOrder, CountsWithoutSeed) {
  EpochOrder order(5, std::nullopt);
  EXPECT_EQ(epoch(order, 5, 0), all_items(5));
  EXPECT_EQ(epoch(order, 5, 3), all_items(5));
}

TEST(EpochOrder, IsTheSameForThreadsInDifferentEpochs) {
  EpochOrder alone(50, 3);
  Items expected;
  for (std::uint64_t sample = 0; sample < 400; ++sample)
    expected.push_back(alone.item(sample));
  EpochOrder shared(50, 3);
  Items found(400);
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        for (std::size_t sample = thread; sample < 400; sample += 4)
          found[sample] = shared.item(sample);
      });
  }
  EXPECT_EQ(found, expected);
}

TEST(EpochOrder, NeedsItemsThatFourBytesCount) {
  EXPECT_THROW(EpochOrder(0, 1), UsageError);
  EXPECT_THROW(EpochOrder(std::uint64_t{1} << 32, 1), UsageError);
}

}  // namespace
}  // namespace bench::steps
