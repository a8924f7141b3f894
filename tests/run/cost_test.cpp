#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/cost.hpp>

namespace bench::run {
namespace {

TEST(AttemptsFactor, IsTheSumOverAllThatMayCome) {
  model::Step step;
  EXPECT_DOUBLE_EQ(attempts_factor(step), 1);
  step.retry =
      model::Retry{.on = {Outcome::node_fail}, .times = 2, .time_limit_factor = 4, .place = {}};
  EXPECT_DOUBLE_EQ(attempts_factor(step), 3);
  step.retry =
      model::Retry{.on = {Outcome::timeout}, .times = 2, .time_limit_factor = 2, .place = {}};
  EXPECT_DOUBLE_EQ(attempts_factor(step), 1 + 2 + 4);
}

}  // namespace
}  // namespace bench::run
