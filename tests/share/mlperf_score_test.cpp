#include "share/mlperf_lines.hpp"
#include "support/error_of.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <bench/share/mlperf.hpp>

namespace bench::mlperf {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

/// What a log of the tests says; times in seconds.
struct TrainingText {
  std::string file = "a.log";
  double seed = 1;
  std::int64_t begin_s = 0;
  std::int64_t epoch_s = 100;  ///< Of each of two epochs, 40 of them evaluation.
  std::string status = "success";
  std::string benchmark = "deepcam";
  std::string platform = "large machine";
  std::string learning_rate = "0.1";
  std::int64_t staging_before_s = 0;
  std::int64_t staging_inside_s = 0;
};

Lines lines_of(const TrainingText& training) {
  Lines lines{
      {"submission_benchmark", "\"" + training.benchmark + "\"", "", training.begin_s * 1000},
      {"submission_platform", "\"" + training.platform + "\"", "", 0},
      {"number_of_nodes", "2", "", 0},
      {"accelerators_per_node", "4", "", 0},
      {"seed", fmt::format("{}", training.seed), "", 0},
      {"opt_lr", training.learning_rate, "", 0},
      {"train_samples", "960", "", 0},
      {"eval_samples", "320", "", 0}};
  const auto stage = [&](std::int64_t seconds) {
    if (seconds > 0) {
      lines.push_back({"staging_start", "null", "", 0});
      lines.push_back({"staging_stop", "null", "", seconds * 1000});
    }
  };
  stage(training.staging_before_s);
  lines.push_back({"run_start", "null", "", 0});
  stage(training.staging_inside_s);
  for (const char* epoch : {R"("epoch_num": 1)", R"("epoch_num": 2)"}) {
    lines.push_back({"epoch_start", "null", epoch, 0});
    lines.push_back({"eval_start", "null", epoch, (training.epoch_s - 40) * 1000});
    lines.push_back({"eval_stop", "null", epoch, 40 * 1000});
    lines.push_back({"epoch_stop", "null", epoch, 0});
  }
  lines.push_back({"run_stop", "null", fmt::format(R"("status": "{}")", training.status), 0});
  return lines;
}

Log log_of(const TrainingText& training) {
  return parse_log(text_of_lines(lines_of(training)), training.file);
}

Result result_of(const std::vector<TrainingText>& trainings) {
  std::vector<Log> logs;
  for (const TrainingText& training : trainings)
    logs.push_back(log_of(training));
  return results_of(logs).at(0);
}

/// Five trainings, two epochs of 100, 110, ... s each.
std::vector<TrainingText> five() {
  std::vector<TrainingText> trainings;
  for (int i = 0; i < 5; ++i)
    trainings.push_back({.file = fmt::format("{}.log", i),
                         .seed = static_cast<double>(i),
                         .epoch_s = 100 + 10 * i});
  return trainings;
}

TEST(MlperfTraining, HasTheTimesAndRatesOfItsLog) {
  const Log log = log_of({});
  const Training training = training_of(log);
  EXPECT_EQ(training.time_s, 200);
  EXPECT_EQ(training.epochs, 2);
  EXPECT_EQ(training.devices, 8);
  EXPECT_THAT(training.train_samples_per_s_per_device, Optional(DoubleEq(960. * 2 / 120 / 8)));
  EXPECT_THAT(training.eval_samples_per_s_per_device, Optional(DoubleEq(320. * 2 / 80 / 8)));
  EXPECT_THAT(training.budget_device_h(), DoubleNear(200. * 8 / 3600, 1e-12));
}

/// As the official results, whenever the data is copied.
TEST(MlperfTraining, TakesFromItsStartToItsStop) {
  const Log log = log_of({.staging_before_s = 30, .staging_inside_s = 7});
  const Training training = training_of(log);
  EXPECT_EQ(training.staging_s, 37);
  EXPECT_EQ(training.time_s, 200 + 7);
  EXPECT_EQ(training.end_ms - training.begin_ms, 207'000);
}

TEST(MlperfTraining, PairsStartAndStopByTheNumberOfTheEpoch) {
  const auto epoch = [](int number) { return fmt::format("\"epoch_num\": {}", number); };
  // The evaluation of epoch 1 ends while that of epoch 2 runs.
  const Log log = parse_log(text_of_lines({{"run_start", "null", "", 0},
                                           {"eval_samples", "1000", "", 0},
                                           {"eval_start", "null", epoch(1), 0},
                                           {"eval_start", "null", epoch(2), 99'999},
                                           {"eval_stop", "null", epoch(1), 1},
                                           {"eval_stop", "null", epoch(2), 99'999},
                                           {"run_stop", "null", R"("status": "success")", 0}}));
  EXPECT_THAT(training_of(log).eval_samples_per_s_per_device, Optional(DoubleEq(10)));
}

TEST(MlperfTraining, CountsTheEpochsOfBlocks) {
  const std::string block = R"("first_epoch_num": 1, "epoch_count": 3)";
  const Log log = parse_log(text_of_lines({{"run_start", "null"},
                                           {"block_start", "null", block},
                                           {"block_stop", "null", block},
                                           {"block_start", "null", block},
                                           {"block_stop", "null", block},
                                           {"run_stop", "null", R"("status": "success")"}}));
  EXPECT_EQ(training_of(log).epochs, 6);
}

TEST(MlperfTraining, NeedsAnEnd) {
  const Log log = parse_log(text_of_lines({{"run_start", "null"}}), "a.log");
  EXPECT_EQ(support::error_of([&] { training_of(log); }),
            "error: a.log: run_stop is missing\n"
            "hint: `bench mlperf check` says what else the log lacks");
}

TEST(MlperfScore, IsTheMeanWithoutTheFastestAndTheSlowest) {
  const Score score = score_of(result_of(five()));
  EXPECT_THAT(score.problems, IsEmpty());
  EXPECT_THAT(score.counted, ElementsAre(1, 2, 3));
  EXPECT_EQ(score.mean.time_s, 240);
  EXPECT_EQ(score.mean.epochs, 2);
  EXPECT_THAT(score.mean.budget_device_h(), DoubleNear(240. * 8 / 3600, 1e-12));
}

TEST(MlperfScore, DropsTheOneThatMissedItsTargetHoweverFast) {
  std::vector<TrainingText> trainings = five();
  trainings[0].status = "aborted";
  EXPECT_THAT(score_of(result_of(trainings)).counted, ElementsAre(2, 3, 4));
}

TEST(MlperfScore, HasTheEnergyOfThoseThatTimeChose) {
  Result result = result_of(five());
  for (std::size_t i = 0; i < 5; ++i)
    result.trainings[i].energy_wh = i == 0 || i == 4 ? 1e6 : 10. * static_cast<double>(i);
  EXPECT_THAT(score_of(result).mean.energy_wh, Optional(DoubleEq(20)));
  result.trainings[2].energy_wh.reset();
  EXPECT_EQ(score_of(result).mean.energy_wh, std::nullopt);
}

TEST(MlperfScore, NeedsWhatTheRulesWant) {
  const struct {
    void (*change)(std::vector<TrainingText>&);
    const char* problem;
  } cases[] = {
      {[](auto& trainings) { trainings.pop_back(); },
       "the rules want 5 trainings of deepcam, not 4"},
      {[](auto& trainings) { trainings.push_back({.file = "5.log", .seed = 9}); },
       "the rules want 5 trainings of deepcam, not 6"},
      {[](auto& trainings) { trainings[3].seed = 1; }, "the seed 1 is that of 1.log and 3.log"},
      {[](auto& trainings) { trainings[1].status = trainings[3].status = "aborted"; },
       "2 trainings missed the target, and only the slowest is dropped"},
      {[](auto& trainings) { trainings[4].learning_rate = "0.2"; },
       "opt_lr is 0.1 in 0.log, 0.2 in 4.log"},
      {[](auto& trainings) {
         for (auto& training : trainings)
           training.benchmark = "resnet";
       },
       "unknown MLPerf HPC benchmark 'resnet'"},
  };
  for (const auto& [change, problem] : cases) {
    std::vector<TrainingText> trainings = five();
    change(trainings);
    const Score score = score_of(result_of(trainings));
    EXPECT_THAT(score.problems, ElementsAre(problem));
    EXPECT_THAT(score.counted, IsEmpty());
  }
}

TEST(MlperfScore, IsOfOneMachine) {
  const std::vector<Log> logs{log_of({.file = "a.log"}),
                              log_of({.file = "b.log", .platform = "other machine"}),
                              log_of({.file = "c.log"})};
  const std::vector<Result> results = results_of(logs);
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_THAT(results[0].trainings, SizeIs(2));
  EXPECT_EQ(results[1].platform, "other machine");
}

TEST(MlperfThroughput, IsOfAllThatTrainAtTheSameTime) {
  std::vector<TrainingText> trainings = five();
  for (std::size_t i = 0; i < 5; ++i)
    trainings[i].begin_s = static_cast<std::int64_t>(i);
  const Throughput throughput = throughput_of(result_of(trainings));
  EXPECT_THAT(throughput.problems, IsEmpty());
  EXPECT_EQ(throughput.time_s, 4 + 280);
  EXPECT_EQ(throughput.devices, 40);
  EXPECT_EQ(throughput.devices_per_training, 8);
  EXPECT_THAT(throughput.trainings_per_hour(), DoubleNear(5. / 284 * 3600, 1e-9));
}

TEST(MlperfThroughput, LeavesOutEqualSeedsAndMissedTargets) {
  std::vector<TrainingText> trainings = five();
  trainings.push_back({.file = "5.log", .seed = 5, .epoch_s = 500, .status = "aborted"});
  trainings.push_back({.file = "6.log", .seed = 1, .epoch_s = 300});
  const Throughput throughput = throughput_of(result_of(trainings));
  EXPECT_THAT(throughput.problems, IsEmpty());
  EXPECT_THAT(throughput.counted, ElementsAre(0, 6, 2, 3, 4));
  EXPECT_EQ(throughput.time_s, 600);
}

TEST(MlperfThroughput, NeedsTrainingsAtTheSameTime) {
  std::vector<TrainingText> trainings = five();
  trainings[4].begin_s = 200;
  EXPECT_THAT(throughput_of(result_of(trainings)).problems,
              ElementsAre("4.log began after 0.log ended: not at the same time"));
}

TEST(MlperfThroughput, NeedsAsManyAsAScore) {
  std::vector<TrainingText> trainings = five();
  trainings[2].seed = 1;
  EXPECT_THAT(throughput_of(result_of(trainings)).problems,
              ElementsAre("4 of 5 trainings reached the target with a seed of their own: the rules "
                          "want 5"));
}

}  // namespace
}  // namespace bench::mlperf
