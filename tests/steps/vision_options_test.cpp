#include "harness/device.hpp"
#include "harness/program.hpp"
#include "harness/timers.hpp"
#include "vision/network/model.hpp"
#include "vision/options.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::vision {
namespace {

/// @throws steps::UsageError as the program would tell it
Options options_of(const std::string& arguments) {
  std::vector<std::string> words{"vision"};
  std::istringstream stream(arguments);
  for (std::string word; stream >> word;)
    words.push_back(word);
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  Options options;
  steps::Session session("vision", "");
  read_options(session, static_cast<int>(argv.size()), argv.data(), options);
  return options;
}

/// What `vision` says of these arguments before it trains.
std::string refusal_of(const std::string& arguments) {
  try {
    const Options options = options_of(arguments);
    const Architecture architecture = make_architecture(options.model, options.classes);
    check_image_size(options, architecture);
    const torch::Device device = steps::select_device(options.common.device);
    steps::check_precision(options.common.precision(), device);
    check_trainable(options, architecture);
    check_cuda_graph(options, device);
    steps::TimingsFile(options.common.timings_file, 0);
  } catch (const steps::UsageError& error) {
    return error.what() + std::string("\nhint: ") + error.hint();
  }
  return "";
}

struct Wrong {
  std::string name;
  std::string arguments;
  std::string message;
};
void PrintTo(const Wrong& one, std::ostream* out) {
  *out << one.name;
}
class VisionOptionsTest : public testing::TestWithParam<Wrong> {};

TEST_P(VisionOptionsTest, AreRefusedWithAHint) {
  EXPECT_THAT(
      refusal_of(GetParam().arguments),
      testing::AllOf(testing::HasSubstr(GetParam().message), testing::ContainsRegex("\nhint: .")));
}

INSTANTIATE_TEST_SUITE_P(
    Vision, VisionOptionsTest,
    testing::Values(
        Wrong{"Model", "--model vgg19",
              "--model: vgg19 not in {alexnet,inception3,resnet18,resnet34,resnet50,resnet50_v2,"
              "resnet101,resnet152,vgg16}"},
        Wrong{"Precision", "--precision fp8", "--precision: fp8 not in {fp32,tf32,bf16,fp16}"},
        Wrong{"Fp16OnTheCpu", "--precision fp16 --device cpu",
              "precision fp16 does not work on the CPU"},
        Wrong{"Tf32OnTheCpu", "--precision tf32 --device cpu",
              "precision tf32 does not work on the CPU"},
        Wrong{"GraphOnTheCpu", "--cuda-graph --device cpu",
              "--cuda-graph needs a GPU, and this run is on the CPU"},
        Wrong{"LogFormat", "--log-format json", "--log-format: json not in {tf_cnn,torch}"},
        Wrong{"EvalSteps", "--eval-steps -1", "--eval-steps: Value -1 not in range"},
        Wrong{"IntervalWithoutEvaluation", "--eval-steps 0 --eval-interval 2",
              "there is no evaluation for --eval-interval"},
        Wrong{"EpochsWithoutEvaluation", "--eval-steps 0 --epochs 4 --eval-epochs 2",
              "there is no evaluation for --eval-epochs"},
        Wrong{"BatchSize", "--batch-size 0", "--batch-size: Value 0 not in range"},
        Wrong{"OneValueToNormalise", "--image-size 32 --batch-size 1 --device cpu",
              "one value per channel to normalise over"},
        Wrong{"SmallImages", "--model vgg16 --image-size 31",
              "nothing is left of images of side 31 behind all layers"},
        Wrong{"SmallImagesForInception", "--model inception3 --image-size 74",
              "\nhint: use --image-size 75 or more"},
        Wrong{"SmallImagesForAlexNet", "--model alexnet --image-size 66",
              "\nhint: use --image-size 67 or more"},
        Wrong{"OneImageForResNet", "--device cpu --model resnet50 --image-size 32 --batch-size 1",
              "or --image-size 33 or more"},
        Wrong{"OneImageForInception",
              "--device cpu --model inception3 --image-size 75 --batch-size 1",
              "or --image-size 107 or more"},
        Wrong{"Device", "--device gpu", "unknown device 'gpu'"},
        Wrong{"AbsentDevice", "--device cuda:999", "device cuda:999 is not there"},
        Wrong{"NearOption", "--stepz 3",
              "not expected: --stepz 3\nhint: --steps may be meant; `vision --help` lists"},
        Wrong{"SeveralOptions", "--qqq --wrmup=2",
              "not expected: --qqq --wrmup=2\nhint: --warmup may be meant"},
        Wrong{"FarOption", "--qqq", "not expected: --qqq\nhint: `vision --help` lists"},
        Wrong{"Seed", "--seed -1",
              "--seed: -1 is not a whole number from 0 to 18446744073709551615"},
        Wrong{"BaseLearningRate", "--base-learning-rate -0.1",
              "--base-learning-rate: -0.1 is not a finite number from 0 on"},
        Wrong{"Momentum", "--momentum 1", "--momentum: 1 is not a number from 0 to below 1"},
        Wrong{"TwoLearningRates", "--learning-rate 0.1 --base-learning-rate 0.1", "excludes"},
        Wrong{"DecayEpochs", "--lr-decay-epochs 30,x", "--lr-decay-epochs: "},
        Wrong{"WeightDecay", "--weight-decay inf",
              "--weight-decay: inf is not a finite number from 0 on"},
        Wrong{"TimingsFile", "--device cpu --timings /nowhere/samples.csv",
              "cannot write /nowhere/samples.csv"}),
    [](const auto& one) { return one.param.name; });

TEST(VisionImageSize, IsThatOfTheModelUnlessItIsGiven) {
  EXPECT_EQ(options_of("--model vgg16").image_size, 224);
  EXPECT_EQ(options_of("--model alexnet").image_size, 227);
  EXPECT_EQ(options_of("--model inception3").image_size, 299);
  EXPECT_EQ(options_of("--model inception3 --image-size 224").image_size, 224);
}

}  // namespace
}  // namespace bench::vision
