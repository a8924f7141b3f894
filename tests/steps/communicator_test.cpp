#include "harness/communicator.hpp"

#include "harness/data_parallel.hpp"
#include "harness/errors.hpp"
#include "harness/flat_parameters.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

#ifndef BENCH_STEPS_GLOO

TEST(Communicator, RefusesSeveralRanksWithoutWhatConnectsThem) {
  EXPECT_THROW(Communicator(Ranks{.size = 2, .local_size = 2}, torch::kCPU), UsageError);
}

#endif

TEST(Communicator, OneRankAloneNeedsNobody) {
  Communicator alone;
  const torch::Tensor three = torch::full({2, 2}, 3.0);
  alone.all_reduce(three).wait();
  EXPECT_TRUE(three.equal(torch::full({2, 2}, 3.0)));
  EXPECT_EQ(alone.all_gather(three).sizes(), (std::vector<std::int64_t>{1, 2, 2}));
  EXPECT_TRUE(alone.reduce_scatter(three).equal(three));
  alone.broadcast(three);
  alone.barrier();
  EXPECT_EQ(alone.split(0, 0).size(), 1);
  EXPECT_EQ(Communicator(Ranks{}, torch::kCPU).size(), 1);
  FlatParameters parameters({torch::ones({3}, torch::requires_grad())});
  GradientReducer reducer(parameters, alone, {});
  reducer.wait();
  EXPECT_EQ(reducer.bucket_count(), 0U);
}

}  // namespace
}  // namespace bench::steps
