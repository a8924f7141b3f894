#include "harness/device.hpp"
#include "harness/errors.hpp"
#include "harness/log.hpp"
#include "harness/optimizer.hpp"
#include "step_programs/program_runner.hpp"
#include "steps/command_line.hpp"
#include "steps/in_ranks.hpp"
#include "steps/paused.hpp"
#include "steps_data/image_files.hpp"
#include "vision/network/model.hpp"
#include "vision/network/tables.hpp"
#include "vision/options.hpp"
#include "vision/report.hpp"

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::vision {
namespace {

/// @throws steps::UsageError as the program would tell it
Options options_of(const std::string& arguments) {
  Options options;
  steps::Session session("vision", "");
  steps::with_arguments(
      arguments, [&](int argc, char** argv) { return read_options(session, argc, argv, options); });
  return options;
}

/// What `vision` says of these arguments before it trains.
std::string refusal_of(const std::string& arguments) {
  return steps::refusal_of([&] {
    const Options options = options_of(arguments);
    const Architecture architecture = make_architecture(options.model, options.classes);
    check_image_size(options, architecture);
    const torch::Device device = steps::select_device(options.common.device);
    steps::check_precision(options.common.precision(), device);
    check_trainable(options, architecture);
    check_cuda_graph(options, device);
    steps::ResultFile(options.common.timings_file, "--timings", 0);
  });
}

struct Wrong {
  std::string name;
  std::string arguments;
  std::string message;
};
TEST(VisionOptions, AreRefusedWithAHint) {
  const Wrong cases[] = {
      {"Model", "--model vgg19",
       "--model: unknown value 'vgg19'\nhint: did you mean 'vgg16'? `vision --help`"},
      {"Precision", "--precision fp8",
       "--precision: unknown value 'fp8'\nhint: known: fp32, tf32, bf16, fp16; `vision "
       "--help`"},
      {"Fp16OnTheCpu", "--precision fp16 --device cpu", "precision fp16 does not work on the CPU"},
      {"Tf32OnTheCpu", "--precision tf32 --device cpu", "precision tf32 does not work on the CPU"},
      {"GraphOnTheCpu", "--cuda-graph --device cpu",
       "--cuda-graph needs a GPU, and this run is on the CPU"},
      {"LogFormat", "--log-format json",
       "--log-format: unknown value 'json'\nhint: known: tf_cnn, torch"},
      {"EvalSteps", "--eval-steps -1", "--eval-steps: Value -1 not in range"},
      {"IntervalWithoutEvaluation", "--eval-steps 0 --eval-interval 2",
       "there is no evaluation for --eval-interval"},
      {"EpochsWithoutEvaluation", "--eval-steps 0 --epochs 4 --eval-epochs 2",
       "there is no evaluation for --eval-epochs"},
      {"BatchSize", "--batch-size 0", "--batch-size: Value 0 not in range"},
      {"OneValueToNormalise", "--image-size 32 --batch-size 1 --device cpu",
       "one value per channel to normalise over"},
      {"SmallImages", "--model vgg16 --image-size 31",
       "nothing is left of images of side 31 behind all layers"},
      {"SmallImagesForInception", "--model inception3 --image-size 74",
       "\nhint: use --image-size 75 or more"},
      {"SmallImagesForAlexNet", "--model alexnet --image-size 66",
       "\nhint: use --image-size 67 or more"},
      {"OneImageForResNet", "--device cpu --model resnet50 --image-size 32 --batch-size 1",
       "or --image-size 33 or more"},
      {"OneImageForInception", "--device cpu --model inception3 --image-size 75 --batch-size 1",
       "or --image-size 107 or more"},
      {"Device", "--device gpu", "unknown device 'gpu'"},
      {"AbsentDevice", "--device cuda:999", "device cuda:999 is not there"},
      {"NearOption", "--stepz 3",
       "unknown option '--stepz'\nhint: did you mean '--steps'? `vision --help` lists"},
      {"FarOption", "--qqq --wrmup=2", "unknown option '--qqq'\nhint: `vision --help` lists"},
      {"NoOption", "extra", "unexpected argument 'extra'\nhint: `vision --help` lists"},
      {"Seed", "--seed -1", "--seed: -1 is not a whole number from 0 to 18446744073709551615"},
      {"BaseLearningRate", "--base-learning-rate -0.1",
       "--base-learning-rate: -0.1 is not a finite number from 0 on"},
      {"Momentum", "--momentum 1", "--momentum: 1 is not a number from 0 to below 1"},
      {"TwoLearningRates", "--learning-rate 0.1 --base-learning-rate 0.1", "excludes"},
      {"DecayEpochs", "--lr-decay-epochs 30,x", "--lr-decay-epochs: "},
      {"WeightDecay", "--weight-decay inf", "--weight-decay: inf is not a finite number from 0 on"},
      {"TimingsFile", "--device cpu --timings /nowhere/samples.csv",
       "cannot write /nowhere/samples.csv"}};
  for (const Wrong& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(refusal_of(c.arguments),
                testing::AllOf(testing::HasSubstr(c.message), testing::ContainsRegex("\nhint: .")));
  }
}

TEST(VisionImageSize, IsThatOfTheModelUnlessItIsGiven) {
  EXPECT_EQ(options_of("--model vgg16").image_size, 224);
  EXPECT_EQ(options_of("--model alexnet").image_size, 227);
  EXPECT_EQ(options_of("--model inception3").image_size, 299);
  EXPECT_EQ(options_of("--model inception3 --image-size 224").image_size, 224);
}

#ifdef BENCH_STEPS_JPEG

TEST(Dataset, HasTheSameImagesInBothOrdersOfMemory) {
  const steps::Folder folder;
  steps::write_dataset(folder.file("set"), steps::ImageFormat::folder, 6, 3);
  Options options;
  options.common.batch_size = 6;
  options.classes = 3;
  options.image_size = 24;
  options.data.path = folder.file("set");
  find_dataset(options);
  steps::Communicator alone;
  const auto first_batch = [&](const std::string& format) {
    options.memory_format = format;
    const Dataset dataset(options, steps::Ranks{}, alone, torch::Device(torch::kCPU));
    return dataset.batches(steps::ImagePart::train)->next();
  };
  const steps::Batch contiguous = first_batch("contiguous");
  const steps::Batch channels_last = first_batch("channels_last");
  EXPECT_TRUE(channels_last["image"].is_contiguous(torch::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(torch::equal(contiguous["image"], channels_last["image"]));
  EXPECT_TRUE(torch::equal(std::get<0>(contiguous["label"].sort()),
                           torch::tensor({0, 0, 1, 1, 2, 2}, torch::kLong)));
}

#endif

TEST(Options, CountTheFirstClassAfterABackgroundOf1001) {
  Options options;
  EXPECT_EQ(options.first_label(), 0);
  options.classes = 1001;
  EXPECT_EQ(options.first_label(), 1);
  options.data.first_label_name = "0";
  EXPECT_EQ(options.first_label(), 0);
  options.classes = 10;
  options.data.first_label_name = "1";
  EXPECT_EQ(options.first_label(), 1);
}

TEST(SyntheticPixels, AreATruncatedNormalDistribution) {
  torch::manual_seed(3);
  const torch::Tensor pixels = synthetic_pixels(4, 128, torch::Device(torch::kCPU));
  EXPECT_EQ(pixels.sizes(), (std::vector<std::int64_t>{4, 3, 128, 128}));
  EXPECT_GE(pixels.min().item<double>(), 7);
  EXPECT_LE(pixels.max().item<double>(), 247);
  EXPECT_NEAR(pixels.mean().item<double>(), 127, 0.5);
  // A normal distribution cut at 2 deviations keeps 0.8796 of its deviation.
  EXPECT_NEAR(pixels.std().item<double>(), 0.8796 * 60, 0.3);
}

steps::Batch made_with(std::uint64_t seed, const std::string& memory_format = "contiguous") {
  Options options;
  options.common.batch_size = 64;
  options.image_size = 32;
  options.classes = 10;
  options.memory_format = memory_format;
  torch::manual_seed(seed);
  return synthetic_batch(options, torch::Device(torch::kCPU));
}

TEST(SyntheticBatch, IsNormalisedAndLabelled) {
  const steps::Batch batch = made_with(3, "channels_last");
  EXPECT_TRUE(batch["image"].is_contiguous(torch::MemoryFormat::ChannelsLast));
  // (127/255 - 0.485) / 0.229, ... per channel
  const torch::Tensor mean = batch["image"].mean({0, 2, 3});
  EXPECT_NEAR(mean[0].item<double>(), 0.057, 0.02);
  EXPECT_NEAR(mean[1].item<double>(), 0.188, 0.02);
  EXPECT_NEAR(mean[2].item<double>(), 0.409, 0.02);
  const torch::Tensor& labels = batch["label"];
  EXPECT_EQ(labels.scalar_type(), torch::kLong);
  EXPECT_GE(labels.min().item<std::int64_t>(), 0);
  EXPECT_LT(labels.max().item<std::int64_t>(), 10);
  EXPECT_EQ(std::get<0>(torch::_unique(labels)).numel(), 10);
}

TEST(SyntheticBatch, FollowsTheSeed) {
  EXPECT_TRUE(torch::equal(made_with(5)["image"], made_with(5)["image"]));
  EXPECT_TRUE(torch::equal(made_with(5)["label"], made_with(5)["label"]));
  EXPECT_FALSE(torch::equal(made_with(5)["image"], made_with(6)["image"]));
}

TEST(StepLog, LineIsThatOfTfCnnBenchmarks) {
  // Speeds 4, 2, 1, 8: their deviation over n is sqrt(28.75 / 4), the distances from their median
  // 3 are 1, 1, 2, 5. The mean step takes 3.75 s.
  EXPECT_EQ(step_line(8, std::vector<double>{2, 4, 8, 1}, 7.5926),
            "4\timages/sec: 2.1 +/- 1.3 (jitter = 2.2)\t7.593");
  EXPECT_EQ(step_line(8, std::vector<double>{2}, 8.169),
            "1\timages/sec: 4.0 +/- 0.0 (jitter = 0.0)\t8.169");
}

TEST(StepLog, TotalIsThatOfTfCnnBenchmarks) {
  const std::string rule = std::string(64, '-') + "\n";
  EXPECT_EQ(step_log_total(24, 6.25), rule + "total images/sec: 3.84\n" + rule);
}

}  // namespace

#ifdef BENCH_STEPS_GLOO
namespace {

/// Evaluates as a rank whose batch normalisations have seen other images than those of the others:
/// with running means of its rank.
/// @returns one of the means after it
double mean_after_evaluation(steps::Communicator& ranks) {
  Options options;
  options.ranks = ranks.size();
  options.model = "resnet18";
  options.image_size = 32;
  options.classes = 3;
  options.common.batch_size = 1;
  options.eval_steps = 1;
  const torch::Device cpu(torch::kCPU);
  Network model = build_model(options, make_architecture(options.model, options.classes), cpu);
  const steps::Trainer trainer(
      {.ranks = ranks, .device = cpu}, *model,
      {.optimizer = steps::make_sgd({}), .learning_rate = [](std::int64_t) { return 0.0; }});
  torch::Tensor mean;  // after the trainer, which copies those of rank 0
  for (const auto& buffer : model->named_buffers())
    if (buffer.key().ends_with("running_mean"))
      mean = buffer.value().fill_(ranks.rank());
  const Dataset dataset(options, steps::Ranks{}, ranks, cpu);
  return evaluate(options, dataset, model, trainer, 1) ? mean[0].item<double>() : -1;
}

TEST(VisionEvaluation, HasTheSameRunningStatisticsOnAllRanks) {
  std::vector<double> means(2);
  testing::internal::CaptureStdout();
  steps::in_ranks(2, [&](steps::Communicator& ranks) {
    means.at(static_cast<std::size_t>(ranks.rank())) = mean_after_evaluation(ranks);
  });
  testing::internal::GetCapturedStdout();
  EXPECT_EQ(means, (std::vector<double>{0.5, 0.5}));
}

}  // namespace

#endif

// What vision tells of right answers, and its logs of progress.

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
