
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <bench/insight/past_runs.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {
namespace {

Observation observed(const workspace::Parameters& parameters, double time_s,
                     std::optional<double> energy_wh = std::nullopt) {
  return {.step = "train", .parameters = parameters, .time_s = time_s, .energy_wh = energy_wh};
}

TEST(FitTest, FindsAPowerLaw) {
  const auto found = fit({{{1}, 3}, {{2}, 12}, {{4}, 48}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Fit::Kind::power);
  EXPECT_NEAR(found->exponents[0], 2, 1e-9);
  EXPECT_NEAR(*found->at({8}), 192, 1e-6);
  EXPECT_NEAR(found->error, 0, 1e-9);
}

/// In a time that does not grow with the square of their number.
TEST(FitTest, TakesManyPoints) {
  std::vector<FitPoint> points;
  for (int k = 1; k <= 5'000; ++k)
    points.push_back({{double(k)}, 3.0 * k});
  const auto found = fit(points);
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found->at({10'000}), 30'000, 1);
}

TEST(FitTest, FindsALineWithAStartUp) {
  const auto found = fit({{{1}, 11}, {{10}, 20}, {{100}, 110}, {{1000}, 1010}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Fit::Kind::line);
  EXPECT_NEAR(*found->at({500}), 510, 1e-6);
}

TEST(FitTest, FindsAPowerLawAboveAStartUp) {
  const auto found = fit({{{1}, 13}, {{2}, 22}, {{3}, 37}, {{4}, 58}, {{5}, 85}});
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found->at({10}), 310, 31);
  EXPECT_NEAR(found->offset, 10, 3);
}

TEST(FitTest, FindsPowersOfSeveralNumbers) {
  std::vector<FitPoint> points;
  for (const double a : {1.0, 2.0, 3.0})
    for (const double b : {1.0, 5.0})
      points.push_back({{a, b}, 7 * a * a / b});
  const auto found = fit(points);
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found->at({4, 2}), 56, 1e-6);
}

TEST(FitTest, ANumberThatFollowsAnotherCountsOnce) {
  const auto found = fit({{{1, 10}, 2}, {{2, 20}, 4}, {{3, 30}, 6}, {{5, 50}, 10}});
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found->at({4, 40}), 8, 1e-6);
}

TEST(FitTest, ThroughTwoPointsGoesALineWithAStartUpOrAPowerLaw) {
  const auto rising = fit({{{8}, 6}, {{16}, 10}});
  ASSERT_TRUE(rising);
  EXPECT_FALSE(rising->is_tested);
  EXPECT_NEAR(*rising->at({32}), 18, 1e-6);
  const auto falling = fit({{{1}, 100}, {{2}, 50}});
  ASSERT_TRUE(falling);
  EXPECT_NEAR(*falling->at({4}), 25, 1e-6);
  const auto steep = fit({{{1}, 3}, {{2}, 12}});  // a line would be below zero at the beginning
  ASSERT_TRUE(steep);
  EXPECT_NEAR(*steep->at({4}), 48, 1e-6);
}

TEST(FitTest, NeedsTwoPointsAndOfSeveralNumbersTwoMoreThanThose) {
  EXPECT_FALSE(fit({}));
  EXPECT_FALSE(fit({{{1}, 3}}));
  EXPECT_FALSE(fit({{{1, 1}, 3}, {{2, 1}, 12}, {{1, 2}, 4}}));
}

TEST(FitTest, ALineBelowZeroGivesNothing) {
  EXPECT_FALSE((Fit{.kind = Fit::Kind::line, .constant = -5, .exponents = {1}}.at({2})));
}

TEST(HistoryTest, TheSamePointIsItsMedian) {
  History history;
  history.add({observed({{"n", "2"}}, 10, 5), observed({{"n", "2"}}, 30, 7),
               observed({{"n", "2"}}, 14), observed({{"n", "3"}}, 99)});
  const Prediction known = history.predict("train", {{"n", "2"}});
  EXPECT_EQ(known.time_s.value, 14);
  EXPECT_EQ(known.time_s.source, "median of 3 workpackages");
  EXPECT_EQ(known.energy_wh.value, 6);
  EXPECT_EQ(known.energy_wh.source, "median of 2 workpackages");
}

TEST(HistoryTest, OldMeasurementsOfAPointDoNotCount) {
  History history;
  for (int run = 0; run < 20; ++run)
    history.add({observed({{"n", "2"}}, run < 10 ? 10 : 20)});
  const Estimate known = history.predict("train", {{"n", "2"}}).time_s;
  EXPECT_EQ(known.value, 20);
  EXPECT_EQ(known.source, "median of the last 9 workpackages");
}

TEST(HistoryTest, AMachineThatWasNotQuietCountsOnlyWhereNothingElseIsKnown) {
  History history;
  Observation disturbed = observed({{"n", "2"}}, 50);
  disturbed.disturbed = true;
  history.add({disturbed});
  const Estimate only = history.predict("train", {{"n", "2"}}).time_s;
  EXPECT_EQ(only.value, 50);
  EXPECT_EQ(only.source, "median of 1 workpackage, machine not quiet");
  history.add({observed({{"n", "2"}}, 10), disturbed});
  EXPECT_EQ(history.predict("train", {{"n", "2"}}).time_s.value, 10);
}

TEST(HistoryTest, TwoPointsGiveAModelWhoseErrorIsUnknown) {
  History history;
  history.add({observed({{"n", "8"}}, 6), observed({{"n", "16"}}, 10)});
  const Estimate near = history.predict("train", {{"n", "32"}}).time_s;
  ASSERT_TRUE(near.value);
  EXPECT_NEAR(*near.value, 18, 1e-6);
  EXPECT_EQ(near.source, "line in n of 2 points, error unknown, extrapolated");
}

TEST(HistoryTest, NeighboursGiveAModelThatSaysWhatItIs) {
  History history;
  for (const int n : {1, 2, 4})
    history.add({observed({{"model", "a"}, {"n", std::to_string(n)}}, 5.0 * n),
                 observed({{"model", "b"}, {"n", std::to_string(n)}}, 50.0 * n)});
  const Prediction near = history.predict("train", {{"model", "b"}, {"n", "8"}});
  ASSERT_TRUE(near.time_s.value);
  EXPECT_NEAR(*near.time_s.value, 400, 1e-6);
  EXPECT_EQ(near.time_s.source, "power law in n^1.00 of 3 points, ±0 %, extrapolated");
  EXPECT_FALSE(near.energy_wh.value);
  EXPECT_EQ(near.energy_wh.source, "never measured on this platform");
  EXPECT_EQ(history.predict("train", {{"model", "b"}, {"n", "3"}}).time_s.source,
            "power law in n^1.00 of 3 points, ±0 %");
}

TEST(HistoryTest, WhatNothingTellsIsAbsentWithTheReason) {
  History history;
  EXPECT_EQ(history.predict("train", {{"n", "1"}}).time_s.source,
            "never measured on this platform");
  history.add({observed({{"n", "1"}}, 10)});
  const Prediction unknown = history.predict("train", {{"n", "8"}});
  EXPECT_FALSE(unknown.time_s.value);
  EXPECT_EQ(unknown.time_s.source, "1 point of the step was measured, none comparable to this one");
  // Words have no distance, and another step says nothing of this one.
  EXPECT_FALSE(history.predict("train", {{"n", "many"}}).time_s.value);
  EXPECT_FALSE(history.predict("other", {{"n", "1"}}).time_s.value);
  EXPECT_FALSE(history.predict("train", {{"m", "1"}}).time_s.value);
}

TEST(HistoryTest, AModelThatIsNotRightAboutItsOwnPointsSaysNothing) {
  History history;
  for (const auto& [n, time_s] :
       std::vector<std::pair<int, double>>{{1, 5}, {2, 900}, {3, 1}, {4, 700}})
    history.add({observed({{"n", std::to_string(n)}}, time_s)});
  const Estimate unknown = history.predict("train", {{"n", "9"}}).time_s;
  EXPECT_FALSE(unknown.value);
  EXPECT_EQ(unknown.source, "no model of 4 points has an error below 100 %");
}

TEST(HistoryTest, APointThatRanOutOfMemoryIsMarkedUntilItEnds) {
  History history;
  Observation failed = observed({{"n", "9"}}, 0);
  failed.time_s.reset();
  failed.out_of_memory = true;
  history.add({failed});
  EXPECT_TRUE(history.predict("train", {{"n", "9"}}).ran_out_of_memory);
  EXPECT_FALSE(history.predict("train", {{"n", "8"}}).ran_out_of_memory);
  history.add({observed({{"n", "9"}}, 3)});
  EXPECT_FALSE(history.predict("train", {{"n", "9"}}).ran_out_of_memory);
}

/// The time of a training as machines show it: start-up, work, and an efficiency that grows with
/// the batch; with a noise of 5 % that is the same in every call.
double training_time_s(int batch, int steps, int run) {
  const double noise = 0.05 * std::sin(12.9898 * batch + 78.233 * steps + 37.719 * run);
  const double samples_per_second = 900.0 * batch / (batch + 24.0);
  return (4 + batch * steps / samples_per_second) * (1 + noise);
}

workspace::Parameters training(int batch, int steps) {
  return {
      {"model", "resnet50"}, {"batch", std::to_string(batch)}, {"steps", std::to_string(steps)}};
}

std::vector<double> errors_of(const History& history, const std::vector<int>& batches,
                              const std::vector<int>& steps) {
  std::vector<double> errors;
  for (const int b : batches)
    for (const int s : steps) {
      const auto planned = history.predict("train", training(b, s)).time_s.value;
      EXPECT_TRUE(planned) << b << " " << s;
      errors.push_back(std::abs(planned.value_or(0) / training_time_s(b, s, 7) - 1));
    }
  std::ranges::sort(errors);
  return errors;
}

TEST(HistoryTest, TheMedianErrorIsAtMostAQuarterOnceTheWorkloadHasRun) {
  History history;
  for (const int batch : {16, 64, 256})
    for (const int steps : {50, 100, 400})
      for (int run = 0; run < 3; ++run)
        history.add({observed(training(batch, steps), training_time_s(batch, steps, run))});
  const auto same = errors_of(history, {16, 64, 256}, {50, 100, 400});
  EXPECT_LE(same[same.size() / 2], 0.10);
  const auto between = errors_of(history, {32, 128}, {75, 200, 300});
  EXPECT_LE(between[between.size() / 2], 0.25);
  const auto beyond = errors_of(history, {32, 512}, {200, 800});
  EXPECT_LE(beyond[beyond.size() / 2], 0.25);
}

}  // namespace
}  // namespace bench::insight
