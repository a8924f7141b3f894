
#include "share/mlflow_rest_calls.hpp"

#include "support/case_name.hpp"
#include "support/deep_json.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/share/mlflow.hpp>

namespace bench::mlflow {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::SizeIs;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(KeyTest, HoldsOnlyWhatEveryServerAllows) {
  EXPECT_EQ(valid_key("energy_wh"), "energy_wh");
  EXPECT_EQ(valid_key("P max [W]/node:é"), "P max _W__node___");
  EXPECT_EQ(valid_key(".."), "_..");
  EXPECT_EQ(valid_key(""), "_");
  EXPECT_THAT(valid_key(std::string(300, 'k')), SizeIs(250));
}

TEST(CutTest, EndsBehindAWholeCharacter) {
  EXPECT_EQ(cut("abc", 3), "abc");
  EXPECT_EQ(cut("aé", 2), "a");
  EXPECT_EQ(cut("aéb", 3), "aé");
  EXPECT_EQ(cut("a\xff", 9), "a\uFFFD");
}

Batch batch_of(std::size_t params, std::size_t tags, std::size_t metrics,
               const std::string& value = "v") {
  Batch batch;
  for (std::size_t k = 0; k < params; ++k)
    batch.params.emplace_back("p" + std::to_string(k), value);
  for (std::size_t k = 0; k < tags; ++k)
    batch.tags.emplace_back("t" + std::to_string(k), value);
  for (std::size_t k = 0; k < metrics; ++k)
    batch.metrics.push_back({.key = "m", .value = 1, .step = static_cast<long long>(k)});
  return batch;
}

std::vector<std::vector<std::size_t>> sizes_of(const std::vector<Batch>& batches) {
  std::vector<std::vector<std::size_t>> sizes;
  for (const Batch& one : batches)
    sizes.push_back({one.params.size(), one.tags.size(), one.metrics.size()});
  return sizes;
}

TEST(BatchesTest, KeepTheLimitsAndLeaveRoomForOneTag) {
  EXPECT_THAT(sizes_of(batches_of({})), ElementsAre(ElementsAre(0, 0, 0)));
  EXPECT_THAT(sizes_of(batches_of(batch_of(100, 99, 800))), ElementsAre(ElementsAre(100, 99, 800)));
  EXPECT_THAT(sizes_of(batches_of(batch_of(101, 0, 0))),
              ElementsAre(ElementsAre(100, 0, 0), ElementsAre(1, 0, 0)));
  EXPECT_THAT(sizes_of(batches_of(batch_of(0, 100, 0))),
              ElementsAre(ElementsAre(0, 99, 0), ElementsAre(0, 1, 0)));
  EXPECT_THAT(sizes_of(batches_of(batch_of(0, 0, 1500))),
              ElementsAre(ElementsAre(0, 0, 999), ElementsAre(0, 0, 501)));
  EXPECT_THAT(sizes_of(batches_of(batch_of(100, 0, 1000))),
              ElementsAre(ElementsAre(100, 0, 899), ElementsAre(0, 0, 101)));
}

/// A control character takes six bytes in JSON.
TEST(BatchesTest, AreSmallerThanAMegabyte) {
  const auto batches = batches_of(batch_of(90, 90, 0, std::string(5000, '\x01')));
  std::size_t params = 0;
  for (const Batch& one : batches) {
    EXPECT_LE((one.params.size() + one.tags.size()) * 30'000, 900'000U);
    params += one.params.size();
  }
  EXPECT_EQ(params, 90U);
}

StoredRun stored() {
  return {.params = {{"n", "1"}},
          .tags = {{"state", "failed"}, {"host", "a"}},
          .latest = {{"time", {.key = "time", .value = 2, .timestamp_ms = 50, .step = 3}}}};
}

std::vector<Metric> no_history(const std::string& key) {
  ADD_FAILURE() << "the history of " << key << " was asked for";
  return {};
}

TEST(MissingTest, IsWhatTheRunHasOtherwiseOrNot) {
  const Batch lacking = missing({.params = {{"n", "1"}, {"size", "8"}},
                                 .tags = {{"state", "done"}, {"host", "a"}},
                                 .metrics = {{"time", 2, 50, 3}, {"rate", 7, 50, 3}}},
                                stored(), no_history);
  EXPECT_THAT(lacking.params, ElementsAre(Pair("size", "8")));
  EXPECT_THAT(lacking.tags, ElementsAre(Pair("state", "done")));
  ASSERT_THAT(lacking.metrics, SizeIs(1));
  EXPECT_EQ(lacking.metrics[0].key, "rate");
}

struct LatestCase {
  std::string name;
  double stored;
  double ours;
  bool same;
};

class LatestTest : public testing::TestWithParam<LatestCase> {};

TEST_P(LatestTest, IsComparedAsDatabasesKeepIt) {
  StoredRun run = stored();
  run.latest["time"].value = GetParam().stored;
  const Batch lacking =
      missing({.metrics = {{"time", GetParam().ours, 50, 3}}}, run,
              [&](const std::string&) { return std::vector{run.latest["time"]}; });
  EXPECT_THAT(lacking.metrics, SizeIs(GetParam().same ? 0 : 1));
}

INSTANTIATE_TEST_SUITE_P(
    Values, LatestTest,
    testing::Values(LatestCase{"Equal", 2, 2, true}, LatestCase{"Other", 2, 3, false},
                    LatestCase{"NaN", nan, nan, true}, LatestCase{"NaNAndNumber", nan, 0, false},
                    LatestCase{"Infinite", std::numeric_limits<double>::max(), infinity, true},
                    LatestCase{"OtherSign", infinity, -infinity, false}),
    support::case_name);

/// MLflow shows the value with the latest time of a step.
TEST(MissingTest, AChangedValueGetsALaterTimeThanTheOneItReplaces) {
  std::vector<Metric> history{{"time", 1, 40, 0}, {"time", 5, 60, 1}, {"time", 2, 50, 3}};
  const auto history_of = [&](const std::string&) { return history; };
  const std::vector<Metric> ours{
      {"time", 1, 50, 0}, {"time", 4, 50, 1}, {"time", 2, 50, 3}, {"time", 9, 50, 4}};
  const Batch lacking = missing({.metrics = ours}, stored(), history_of);
  ASSERT_THAT(lacking.metrics, SizeIs(2));
  EXPECT_EQ(lacking.metrics[0].step, 1);
  EXPECT_EQ(lacking.metrics[0].timestamp_ms, 61);
  EXPECT_EQ(lacking.metrics[1].step, 4);
  EXPECT_EQ(lacking.metrics[1].timestamp_ms, 50);
}

TEST(AnswerTest, OfAnyDepthCanBeCopiedAndWritten) {
  const Json answer = parsed(R"({"message": )" + support::deep_json() + "}");
  const Json copy = answer;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_LT(text_in(copy, "message").size(), 1000U);
}

}  // namespace

}  // namespace bench::mlflow
