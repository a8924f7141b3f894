#include <algorithm>
#include <cmath>
#include <optional>

#include <gtest/gtest.h>

#include <bench/base/pace.hpp>

namespace bench {
namespace {

/// Things that all take the same, so many at a time, told about every tenth of a second.
struct Course {
  double each_s;
  long long all;
  long long side_by_side;
  double begin_s = 0;

  long long ended(double now_s) const {
    const auto rounds = static_cast<long long>(std::floor((now_s - begin_s) / each_s + 1e-9));
    return std::clamp(rounds * side_by_side, 0LL, all);
  }
  long long going(double now_s) const {
    return now_s < begin_s ? 0 : std::min(side_by_side, all - ended(now_s));
  }
  double true_left_s(double now_s) const {
    const double rounds = std::ceil(static_cast<double>(all) / static_cast<double>(side_by_side));
    return begin_s + rounds * each_s - now_s;
  }
  /// What is left by the estimate, after having been told until then.
  std::optional<double> estimate(double until_s) const {
    Pace pace;
    for (int tenth = 0; tenth <= std::lround(until_s * 10); ++tenth)
      pace.note(tenth / 10.0, ended(tenth / 10.0), going(tenth / 10.0));
    return pace.left_s(until_s, all - ended(until_s));
  }
};

TEST(Pace, KnowsWhatEqualOnesWillTake) {
  const struct {
    const char* name;
    Course course;
    double now_s;
  } cases[] = {
      {"one after the other", {2, 10, 1}, 6},   {"between two ends", {2, 10, 1}, 7.5},
      {"side by side", {10, 160, 16}, 30},      {"after the first round", {10, 160, 16}, 10},
      {"late in a round", {10, 160, 16}, 19.9}, {"begun late", {2, 10, 2, 100}, 104},
      {"the last round", {10, 32, 16}, 13}};
  for (const auto& [name, course, now_s] : cases)
    EXPECT_NEAR(course.estimate(now_s).value_or(-1), course.true_left_s(now_s), 0.2) << name;
}

TEST(Pace, IsUnknownBeforeTheFirstEnd) {
  EXPECT_FALSE((Course{10, 16, 4}.estimate(9.9)).has_value());
  EXPECT_FALSE(Pace().left_s(5, 3).has_value());
}

TEST(Pace, CountsNothingThatHadEndedBefore) {
  Pace pace;
  pace.note(0, 1000, 1);
  pace.note(10, 1001, 1);
  EXPECT_DOUBLE_EQ(*pace.left_s(10, 5), 50);
}

TEST(Pace, TheFirstOfManySaysNothingAgainstTheOthers) {
  Pace pace;
  pace.note(0, 0, 16);
  pace.note(10, 1, 16);
  EXPECT_DOUBLE_EQ(*pace.left_s(10, 31), 31 / 16.0 * 10);
}

TEST(Pace, WhatIsOverdueIsAboutToEnd) {
  Pace pace;
  pace.note(0, 0, 1);
  pace.note(10, 1, 1);
  EXPECT_DOUBLE_EQ(*pace.left_s(30, 1), 0);
}

}  // namespace
}  // namespace bench
