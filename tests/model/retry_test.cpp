#include "model/fixture.hpp"

#include <optional>
#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {
namespace {

using testing::ElementsAre;

std::optional<Retry> retry_of(const std::string& setting) {
  return benchmark_of("step: {name: s, " + setting + "}\n").steps.at(0).retry;
}

TEST(Retry, IsForFaultsOfTheMachineInItsShortForm) {
  const Retry retry = retry_of("retry: 3").value();
  EXPECT_EQ(retry.times, 3);
  EXPECT_THAT(retry.on, ElementsAre(Outcome::node_fail, Outcome::boot_fail, Outcome::preempted));
  EXPECT_EQ(retry.time_limit_factor, 1);
}

TEST(Retry, IsForWhatTheLongFormSays) {
  const Retry retry =
      retry_of("retry: {on: [timeout, 'failed, lost'], times: 2, timelimit_factor: 1.5}").value();
  EXPECT_EQ(retry.times, 2);
  EXPECT_THAT(retry.on, ElementsAre(Outcome::timeout, Outcome::failed, Outcome::lost));
  EXPECT_EQ(retry.time_limit_factor, 1.5);
}

TEST(Retry, IsMadeOnceUnlessToldOtherwise) {
  EXPECT_EQ(retry_of("retry: {on: timeout}")->times, 1);
  EXPECT_EQ(retry_of("retry: {timelimit_factor: 2}")->on.size(), 3U);
  EXPECT_EQ(retry_of("retry: 0")->times, 0);
}

TEST(Retry, IsNoneUnlessAsked) {
  EXPECT_FALSE(retry_of("do: echo"));
}

struct RetryCase {
  std::string name;
  std::string setting;
  std::string expected;
};
void PrintTo(const RetryCase& c, std::ostream* out) {
  *out << c.name;
}

class RetryMistakeTest : public testing::TestWithParam<RetryCase> {};

TEST_P(RetryMistakeTest, IsReported) {
  EXPECT_EQ(fault_in("step: {name: s, retry: " + GetParam().setting + "}\n"),
            "in.yaml:1:" + GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, RetryMistakeTest,
    testing::Values(RetryCase{"Misspelt", "{on: [failed, timout]}", "38: unknown-name"},
                    RetryCase{"UnknownWord", "{on: weather}", "29: unknown-name"},
                    RetryCase{"Success", "{on: done}", "29: unknown-name"},
                    RetryCase{"WhatIsMadeAgainAnyway", "{on: interrupted}", "29: unknown-name"},
                    RetryCase{"NoNumber", "often", "24: invalid-value"},
                    RetryCase{"Parameter", "$n", "24: invalid-value"},
                    RetryCase{"Negative", "-1", "24: invalid-value"},
                    RetryCase{"TooMany", "1001", "24: invalid-value"},
                    RetryCase{"NegativeTimes", "{times: -1}", "32: invalid-value"},
                    RetryCase{"SmallFactor", "{timelimit_factor: 0.5}", "43: invalid-value"},
                    RetryCase{"NoFactor", "{timelimit_factor: twice}", "43: invalid-value"},
                    RetryCase{"EndlessFactor", "{timelimit_factor: inf}", "43: invalid-value"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace bench::model
