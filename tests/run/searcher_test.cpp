#include "run/searcher.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/model/benchmark.hpp>

namespace bench::run {
namespace {

using testing::ElementsAre;

model::Search between(long long from, long long to, long long multiple_of = 1) {
  model::Search search;
  search.from = from;
  search.to = to;
  search.multiple_of = multiple_of;
  return search;
}

/// The values that a search tries where those up to `frontier` fit, in order.
std::vector<Probe> probes_of(const model::Search& search, long long frontier) {
  std::vector<Probe> probes;
  while (const auto next = next_value(search, probes))
    probes.push_back({.value = *next, .fits = *next <= frontier});
  return probes;
}

std::vector<long long> values_of(const model::Search& search, long long frontier) {
  std::vector<long long> values;
  for (const Probe& probe : probes_of(search, frontier))
    values.push_back(probe.value);
  return values;
}

TEST(Search, DoublesAndThenBisects) {
  EXPECT_THAT(values_of(between(1, 100), 11), ElementsAre(1, 2, 4, 8, 16, 12, 10, 11));
}

TEST(Search, EndsAtTheLastValueIfThatFits) {
  EXPECT_THAT(values_of(between(1, 10), 1000), ElementsAre(1, 2, 4, 8, 10));
}

TEST(Search, EndsAtTheFirstValueIfThatDoesNotFit) {
  EXPECT_THAT(values_of(between(8, 64), 7), ElementsAre(8));
  EXPECT_EQ(largest_fit(probes_of(between(8, 64), 7)), std::nullopt);
}

TEST(Search, TriesMultiplesOnly) {
  EXPECT_THAT(values_of(between(8, 64, 8), 45), ElementsAre(8, 16, 32, 64, 48, 40));
}

/// Probes of a range without them, say.
TEST(Search, GoesOnWithMultiplesAfterOtherValues) {
  EXPECT_EQ(next_value(between(8, 64, 8), std::vector<Probe>{{.value = 10, .fits = true}}), 16);
}

TEST(Search, FindsEveryFrontierWithFewValues) {
  std::mt19937 random(1);
  const auto draw = [&](long long from, long long to) {
    return std::uniform_int_distribution<long long>(from, to)(random);
  };
  for (int k = 0; k < 1000; ++k) {
    const long long multiple = draw(1, 9);
    const long long from = multiple * draw(1, 20);
    const long long to = from + multiple * draw(0, 5000);
    const long long frontier = draw(0, to + 10);
    const auto probes = probes_of(between(from, to, multiple), frontier);
    const long long fits = std::min(frontier, to);
    EXPECT_EQ(largest_fit(probes),
              fits < from ? std::nullopt : std::optional(fits - fits % multiple))
        << from << " to " << to << ", " << multiple << ": " << frontier;
    EXPECT_FALSE(is_contradictory(probes));
    EXPECT_LE(static_cast<int>(probes.size()), most_values(between(from, to, multiple)))
        << from << " to " << to << ", " << multiple << ": " << frontier;
  }
}

TEST(Search, TakesTwiceTheLogarithmOfItsRange) {
  std::size_t most = 0;
  for (long long frontier = 0; frontier <= 4097; ++frontier)
    most = std::max(most, values_of(between(1, 4096), frontier).size());
  EXPECT_EQ(most, 24U);
  EXPECT_EQ(most_values(between(1, 4096)), 24);
}

TEST(Search, NoticesThatALargerValueFits) {
  EXPECT_TRUE(is_contradictory(std::vector<Probe>{{1, true}, {2, false}, {4, true}}));
  EXPECT_EQ(largest_fit(std::vector<Probe>{{1, true}, {2, false}, {4, true}}), 1);
}

}  // namespace
}  // namespace bench::run
