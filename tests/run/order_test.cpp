#include "run/state_store.hpp"
#include "run/store_fixture.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::run {
namespace {

using testing::ElementsAre;

class OrderTest : public StoreFixture {
 protected:
  std::vector<long long> order(const std::string& order, long long seed = 0) {
    plan(four + "step: {name: s, use: p, iterations: 2, procs: 100, order: " + order + "}\n");
    run_.metadata.order_seed = seed;
    create();
    return start_all();
  }
};

TEST_F(OrderTest, IsThatOfTheIdsUnlessTold) {
  EXPECT_THAT(order("given"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(OrderTest, InterleavesIterations) {
  EXPECT_THAT(order("interleaved"), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
}

TEST_F(OrderTest, IsRandomAndThatOfItsSeed) {
  const std::vector<long long> one = order("random", 1);
  EXPECT_THAT(one, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_FALSE(std::ranges::is_sorted(one));
  EXPECT_EQ(order("random", 1), one);
  EXPECT_NE(order("random", 2), one);
}

TEST_F(OrderTest, HoldsForWhatIsLeftAfterAnotherBench) {
  const std::vector<long long> all = order("random", 3);
  create();
  store_->apply(claim_of(store_->at(queues().front())));
  end(all.front());
  reopen();
  EXPECT_EQ(start_all(), std::vector(all.begin() + 1, all.end()));
}

}  // namespace
}  // namespace bench::run
