#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/cost.hpp>

namespace bench::run {
namespace {

struct Case {
  const char* name;
  std::vector<Outcome> on;
  int times;
  double time_limit_factor;
  int retries;
  double expected;
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}
class AttemptsFactorTest : public testing::TestWithParam<Case> {};

TEST_P(AttemptsFactorTest, IsTheSumOverAllThatMayCome) {
  model::Step step;
  step.retry = model::Retry{.on = GetParam().on,
                            .times = GetParam().times,
                            .time_limit_factor = GetParam().time_limit_factor,
                            .place = {}};
  EXPECT_DOUBLE_EQ(attempts_factor(step, GetParam().retries), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Engine, AttemptsFactorTest,
    testing::Values(Case{"OfEqualLimits", {Outcome::node_fail}, 2, 4, 0, 3},
                    Case{"OfLongerLimits", {Outcome::timeout}, 2, 2, 0, 1 + 2 + 4},
                    Case{"AfterTheFirst", {Outcome::timeout}, 2, 2, 1, 1 + 2},
                    Case{"AfterTheLast", {Outcome::timeout}, 2, 2, 2, 1}),
    [](const auto& one) { return one.param.name; });

TEST(AttemptsFactor, IsOneWithoutARetry) {
  EXPECT_DOUBLE_EQ(attempts_factor(model::Step{}, 0), 1);
}

}  // namespace
}  // namespace bench::run
