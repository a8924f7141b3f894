// What vision tells of right answers, and its logs of progress.

#include "harness/device.hpp"
#include "steps/paused.hpp"
#include "vision/evaluation.hpp"
#include "vision/report.hpp"

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::vision {
namespace {

using Values = std::vector<double>;

Values percents(const torch::Tensor& scores, const torch::Tensor& labels) {
  return steps::numbers_of(accuracy_percents(scores, labels));
}

TEST(AccuracyPercents, CountLabelsAmongTheBestOneAndTheBestFive) {
  const torch::Tensor scores = torch::arange(8, torch::kFloat).expand({4, 8});  // 7 scores best
  EXPECT_EQ(percents(scores, torch::tensor({7, 3, 2, 0})), (Values{25, 50}));
}

TEST(AccuracyPercents, TakeAllClassesWhereThereAreFewerThanFive) {
  EXPECT_EQ(percents(torch::tensor({{1.0, 2.0}, {2.0, 1.0}}), torch::tensor({1, 1})),
            (Values{50, 100}));
}

TEST(Progress, LineIsThatOfTheImageNetExample) {
  const Values time_s = {0.25};
  const Values data_s = {0.0005};
  const Values losses = {6.9077553};
  const Values top1 = {0};
  const Values top5 = {100};
  EXPECT_EQ(progress_line({time_s, data_s, losses, top1, top5}, 1),
            "Epoch: [0][1/1]\tTime  0.250 ( 0.250)\tData  0.001 ( 0.001)\t"
            "Loss 6.9078e+00 (6.9078e+00)\tAcc@1   0.00 (  0.00)\tAcc@5 100.00 (100.00)\n");
}

TEST(Progress, LineHasTheMeansOfTheStepsSoFar) {
  Values rising;
  for (int i = 1; i <= 11; ++i)
    rising.push_back(i);
  EXPECT_EQ(progress_line({rising, rising, rising, rising, rising}, 120),
            "Epoch: [0][ 11/120]\tTime 11.000 ( 6.000)\tData 11.000 ( 6.000)\t"
            "Loss 1.1000e+01 (6.0000e+00)\tAcc@1  11.00 (  6.00)\tAcc@5  11.00 (  6.00)\n");
}

TEST(Progress, RefusesStepsThatLackAValue) {
  const Values one = {1};
  EXPECT_THROW(progress_line({one, one, one, {}, one}, 1), std::invalid_argument);
}

/// What is printed for so many steps.
std::string printed(steps::ProgressLog& log, int steps) {
  testing::internal::CaptureStdout();
  log.begin();
  for (int i = 0; i < steps; ++i)
    log.add({.result = {.loss = 1.25, .observed = {0, 50}}, .io_s = 0});
  log.end(6.25);
  return testing::internal::GetCapturedStdout();
}

/// The text up to the first blank of each line.
std::vector<std::string> first_words(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    words.push_back(line.substr(0, line.find_first_of("\t:")));
  return words;
}

TEST(Progress, OfTfCnnBenchmarksEndsWithTheLastStepAndTheTotal) {
  const std::string rule(64, '-');
  TfCnnLog log(2);
  EXPECT_EQ(first_words(printed(log, 12)),
            (std::vector<std::string>{"Step", "1", "10", "12", rule, "total images/sec", rule}));
  TfCnnLog shorter(2);
  EXPECT_EQ(first_words(printed(shorter, 10)),
            (std::vector<std::string>{"Step", "1", "10", rule, "total images/sec", rule}));
}

TEST(Progress, BeginsAnewInEachEpoch) {
  TfCnnLog table(2);
  printed(table, 12);
  EXPECT_EQ(first_words(printed(table, 1)).at(1), "1");
  TorchLog lines(12);
  printed(lines, 1);
  EXPECT_THAT(printed(lines, 1), testing::StartsWith("Epoch: [1][ 1/12]\t"));
}

TEST(Progress, CountsNoPause) {
  TfCnnLog table(2);
  const steps::PausedStep in_table = steps::paused_step(table, {});
  EXPECT_GE(steps::number_behind(in_table.printed, "images/sec: "), 2 / in_table.most_s - 0.1)
      << in_table.printed;
  TorchLog lines(1);
  const steps::PausedStep in_line =
      steps::paused_step(lines, {.result = {.loss = 1.25, .observed = {0, 50}}});
  EXPECT_LE(steps::number_behind(in_line.printed, "\tTime "), in_line.most_s + 0.001)
      << in_line.printed;
}

TEST(Progress, OfTheImageNetExampleIsLinesOnly) {
  TorchLog log(12);
  EXPECT_EQ(first_words(printed(log, 12)), (std::vector<std::string>{"Epoch", "Epoch"}));
}

}  // namespace
}  // namespace bench::vision
