// What vision tells of right answers: in its log of progress, and after the training.

#include "vision/evaluation.hpp"
#include "vision/progress.hpp"
#include "vision/recorder.hpp"
#include "vision/synthetic.hpp"

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bench::vision {
namespace {

using Values = std::vector<double>;

/// What a recorder makes of one step.
History recorded(const torch::Tensor& scores, const torch::Tensor& labels, bool accuracy = true) {
  Recorder recorder(accuracy);
  recorder.record(torch::tensor(0.5), scores, labels);
  steps::Communicator alone;
  return recorder.read(alone);
}

TEST(Recorder, CountsLabelsAmongTheBestOneAndTheBestFive) {
  const torch::Tensor scores = torch::arange(8, torch::kFloat).expand({4, 8});  // 7 scores best
  const History history = recorded(scores, torch::tensor({7, 3, 2, 0}));
  EXPECT_EQ(history.top1_percent, (Values{25}));
  EXPECT_EQ(history.top5_percent, (Values{50}));
}

TEST(Recorder, TakesAllClassesWhereThereAreFewerThanFive) {
  const History history = recorded(torch::tensor({{1.0, 2.0}, {2.0, 1.0}}), torch::tensor({1, 1}));
  EXPECT_EQ(history.top1_percent, (Values{50}));
  EXPECT_EQ(history.top5_percent, (Values{100}));
}

TEST(Recorder, KeepsTheOrderOfSteps) {
  Recorder recorder(true);
  recorder.record(torch::tensor(2.5), torch::tensor({{1.0, 0.0}}), torch::tensor({0}));
  recorder.record(torch::tensor(1.5), torch::tensor({{1.0, 0.0}}), torch::tensor({1}));
  steps::Communicator alone;
  const History history = recorder.read(alone);
  EXPECT_EQ(history.losses, (Values{2.5, 1.5}));
  EXPECT_EQ(history.top1_percent, (Values{100, 0}));
}

TEST(Recorder, LeavesRightAnswersOutUnlessAskedFor) {
  const History history = recorded(torch::ones({2, 8}), torch::tensor({1, 2}), false);
  EXPECT_EQ(history.losses, (Values{0.5}));
  EXPECT_TRUE(history.top1_percent.empty());
  EXPECT_TRUE(history.top5_percent.empty());
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

/// The steps up to the last that have a line.
std::vector<std::size_t> with_lines(std::size_t first, std::size_t last, std::size_t offset) {
  std::vector<std::size_t> found;
  for (std::size_t step = first; step <= last; ++step)
    if (has_line(step, offset))
      found.push_back(step);
  return found;
}

TEST(Progress, HasLinesOfEachTenthStepAndFewerInLongRuns) {
  using Steps = std::vector<std::size_t>;
  EXPECT_EQ(with_lines(1, 25, 0), (Steps{1, 10, 20}));
  EXPECT_EQ(with_lines(1, 25, 1), (Steps{1, 11, 21}));
  EXPECT_EQ(with_lines(985, 1205, 0), (Steps{990, 1000, 1100, 1200}));
  EXPECT_EQ(with_lines(9850, 12500, 1), (Steps{9901, 10001, 11001, 12001}));
}

/// What is printed for so many steps.
std::string printed(bool as_torch, int steps) {
  testing::internal::CaptureStdout();
  Progress progress(as_torch, 12, 2);
  progress.begin();
  for (int i = 0; i < steps; ++i)
    progress.add({.loss = 1.25, .data_s = 0, .top1_percent = 0, .top5_percent = 50});
  progress.end(6.25);
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
  EXPECT_EQ(first_words(printed(false, 12)),
            (std::vector<std::string>{"Step", "1", "10", "12", rule, "total images/sec", rule}));
  EXPECT_EQ(first_words(printed(false, 10)),
            (std::vector<std::string>{"Step", "1", "10", rule, "total images/sec", rule}));
}

TEST(Progress, OfTheImageNetExampleIsLinesOnly) {
  EXPECT_EQ(first_words(printed(true, 12)), (std::vector<std::string>{"Epoch", "Epoch"}));
}

TEST(Evaluation, LeavesTheModelAsItIs) {
  torch::manual_seed(1);
  Options options;
  options.common.batch_size = 4;
  options.classes = 10;
  options.image_size = 32;
  options.eval_steps = 2;
  Network model(make_architecture("resnet18", options.classes), options.image_size);
  const auto values = [&] {
    std::vector<torch::Tensor> parts;
    for (const auto& tensors : {model->parameters(), model->buffers()})
      for (const torch::Tensor& tensor : tensors)
        parts.push_back(tensor.detach().to(torch::kFloat).flatten());
    return torch::cat(parts);
  };
  const torch::Tensor before = values();
  steps::ResidentBatches batches(synthetic_batch(options, torch::Device(torch::kCPU)));
  steps::Communicator alone;
  const Evaluation evaluation =
      evaluate(options, batches, model, alone, torch::Device(torch::kCPU)).value();
  EXPECT_TRUE(torch::equal(before, values()));
  EXPECT_FALSE(model->parameters().front().grad().defined());
  EXPECT_DOUBLE_EQ(evaluation.images_per_second, 8 / evaluation.seconds);
  EXPECT_LE(evaluation.top1_percent, evaluation.top5_percent);
}

/// One batch after the other, of one image each, with its number in all pixels.
class NumberedImages : public steps::Batches {
 public:
  const steps::Batch& next() override {
    batch_ = steps::Batch({{"image", torch::full({1, 3, 32, 32}, static_cast<double>(count++))},
                           {"label", torch::zeros({1}, torch::kLong)}});
    return batch_;
  }
  std::int64_t bytes_per_sample() const override { return batch_.bytes(); }
  int count = 0;

 private:
  steps::Batch batch_;
};

TEST(Evaluation, PassesEachBatchOnceThatIsMeasured) {
  torch::manual_seed(1);
  Options options;
  options.common.batch_size = 1;
  options.classes = 4;
  options.image_size = 32;
  options.eval_steps = 3;
  Network model(make_architecture("resnet18", options.classes), options.image_size);
  NumberedImages images;
  steps::Communicator alone;
  const double loss = evaluate(options, images, model, alone, torch::Device(torch::kCPU))->loss;
  EXPECT_EQ(images.count, 3);
  double sum = 0;
  const torch::NoGradGuard no_gradient;
  for (const double number : {0.0, 1.0, 2.0})
    sum += torch::cross_entropy_loss(model->forward(torch::full({1, 3, 32, 32}, number)),
                                     torch::zeros({1}, torch::kLong))
               .item<double>();
  EXPECT_NEAR(loss, sum / 3, 1e-5);
}

}  // namespace
}  // namespace bench::vision
