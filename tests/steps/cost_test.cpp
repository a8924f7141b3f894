#include "harness/cost.hpp"

#include "gpt/network.hpp"
#include "steps/expect_counted.hpp"
#include "support/case_name.hpp"

#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

namespace nn = torch::nn;

struct CountedLayer {
  std::string name;
  Cost cost;
  std::shared_ptr<nn::Module> layer;
  std::int64_t forward_macs;
};

class CostTest : public testing::TestWithParam<CountedLayer> {};

TEST_P(CostTest, IsThatOfTheLayer) {
  expect_counted(GetParam().cost, *GetParam().layer);
  EXPECT_EQ(GetParam().cost.forward_macs_per_sample(), GetParam().forward_macs);
}

std::vector<CountedLayer> convolutions() {
  return {
      {"Convolution1d", Cost().convolution({.in = 3, .out = 8, .kernel = {5}, .output = {10}}),
       nn::Conv1d(3, 8, 5).ptr(), 3 * 8 * 5 * 10},
      {"Convolution2d",
       Cost().convolution({.in = 3, .out = 8, .kernel = {5, 1}, .output = {10, 7}, .bias = false}),
       nn::Conv2d(nn::Conv2dOptions(3, 8, {5, 1}).bias(false)).ptr(), 3 * 8 * 5 * 70},
      {"Convolution3d",
       Cost().convolution({.in = 2, .out = 4, .kernel = {3, 3, 3}, .output = {5, 6, 7}}),
       nn::Conv3d(2, 4, 3).ptr(), 2 * 4 * 27 * 210},
      {"GroupedConvolution",
       Cost().convolution({.in = 6, .out = 4, .kernel = {3, 3}, .output = {10, 10}, .groups = 2}),
       nn::Conv2d(nn::Conv2dOptions(6, 4, 3).groups(2)).ptr(), 3 * 4 * 9 * 100},
      {"TransposedConvolution",
       Cost().transposed_convolution(
           {.in = 6, .out = 4, .kernel = {2, 2}, .input = {5, 5}, .groups = 2}),
       nn::ConvTranspose2d(nn::ConvTranspose2dOptions(6, 4, 2).groups(2)).ptr(), 3 * 4 * 4 * 25},
  };
}

std::vector<CountedLayer> other_layers() {
  return {
      {"Linear", Cost().linear({.in = 7, .out = 5}), nn::Linear(7, 5).ptr(), 35},
      {"LinearWithoutBias", Cost().linear({.in = 7, .out = 5, .bias = false, .positions = 12}),
       nn::Linear(nn::LinearOptions(7, 5).bias(false)).ptr(), 35 * 12},
      {"BatchNormalisation", Cost().normalisation({.channels = 9}), nn::BatchNorm2d(9).ptr(), 0},
      {"BatchNormalisationThatLearnsNothing",
       Cost().normalisation({.channels = 9, .scale = false, .shift = false}),
       nn::BatchNorm2d(nn::BatchNorm2dOptions(9).affine(false)).ptr(), 0},
      {"LayerNormalisation", Cost().normalisation({.channels = 9, .running_statistics = false}),
       nn::LayerNorm(nn::LayerNormOptions({9})).ptr(), 0},
      {"Embedding", Cost().embedding({.rows = 100, .width = 16}), nn::Embedding(100, 16).ptr(), 0},
      {"Lstm", Cost().lstm({.inputs = 7, .hidden = 5, .steps = 11, .bias_vectors = 2}),
       nn::LSTM(7, 5).ptr(), 4 * 5 * (7 + 5) * 11},
  };
}

INSTANTIATE_TEST_SUITE_P(Convolutions, CostTest, testing::ValuesIn(convolutions()),
                         support::case_name);
INSTANTIATE_TEST_SUITE_P(Layers, CostTest, testing::ValuesIn(other_layers()), support::case_name);

// 12 heads of 64 score 10 keys for each of 20 queries, and weigh as many values.
TEST(Cost, OfAttentionIsHalvedByACausalMask) {
  const Cost whole = Cost().attention({.heads = 12, .head_size = 64, .queries = 20, .keys = 10});
  EXPECT_EQ(whole.forward_macs_per_sample(), 2 * 12 * 64 * 20 * 10);
  const Cost causal =
      Cost().attention({.heads = 12, .head_size = 64, .queries = 20, .keys = 20, .causal = true});
  EXPECT_EQ(causal.forward_macs_per_sample(), 12 * 64 * 20 * 20);
}

TEST(Cost, AddsUpInputsInBytes) {
  const Cost cost = Cost().input({3, 8, 8}).input({17}).input({10}, 8);
  EXPECT_EQ(cost.input_bytes_per_sample(), 4 * 3 * 64 + 4 * 17 + 8 * 10);
}

TEST(Cost, OfATrainingStepIsThreeTimesTheForwardPass) {
  const Cost cost = Cost().linear({.in = 7, .out = 5});
  EXPECT_EQ(cost.training_flops_per_sample(), 3 * 2 * 35);
}

TEST(Cost, RefusesAConvolutionThatCannotBe) {
  EXPECT_THROW(Cost().convolution({.in = 3, .out = 4, .kernel = {3, 3}, .output = {8}}),
               std::invalid_argument);
  EXPECT_THROW(Cost().convolution({.in = 3, .out = 4, .kernel = {3}, .output = {8}, .groups = 2}),
               std::invalid_argument);
}

TEST(Cost, OfANetworkThatIsAppliedTwiceHasItsParametersOnce) {
  const Cost cost = Cost().input({7}).linear({.in = 7, .out = 5}).applied(2);
  EXPECT_EQ(cost.trainable_parameters(), 40);
  EXPECT_EQ(cost.forward_macs_per_sample(), 70);
  EXPECT_EQ(cost.input_bytes_per_sample(), 56);
}

TEST(Cost, IsPrintedInFiveLines) {
  testing::internal::CaptureStdout();
  Cost().input({7}).linear({.in = 7, .out = 5}).normalisation({.channels = 5}).log();
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "trainable_parameters=50\n"
            "non_trainable_parameters=10\n"
            "forward_macs_per_sample=35\n"
            "training_flops_per_sample=210\n"
            "input_bytes_per_sample=28\n");
}

// The same network from its layers as from the closed formulas of gpt.
TEST(Cost, OfALanguageModelIsThatOfItsFormulas) {
  const gpt::Architecture a = gpt::architecture("117M");
  Cost cost;
  cost.embedding({.rows = a.vocabulary, .width = a.hidden}).parameters(a.sequence * a.hidden);
  const Cost::Normalisation layer_norm{.channels = a.hidden, .running_statistics = false};
  for (std::int64_t layer = 0; layer < a.layers; ++layer)
    cost.normalisation(layer_norm)
        .linear({.in = a.hidden, .out = 3 * a.hidden, .positions = a.sequence})
        .attention({.heads = a.heads,
                    .head_size = a.head_size(),
                    .queries = a.sequence,
                    .keys = a.sequence,
                    .causal = true})
        .linear({.in = a.hidden, .out = a.hidden, .positions = a.sequence})
        .normalisation(layer_norm)
        .linear({.in = a.hidden, .out = 4 * a.hidden, .positions = a.sequence})
        .linear({.in = 4 * a.hidden, .out = a.hidden, .positions = a.sequence});
  cost.normalisation(layer_norm);
  EXPECT_EQ(cost.trainable_parameters(), gpt::Counts(a).parameters());
  // Its weights are those of the embedding.
  const Cost scores =
      Cost().linear({.in = a.hidden, .out = a.vocabulary, .bias = false, .positions = a.sequence});
  EXPECT_EQ(cost.forward_macs_per_sample() + scores.forward_macs_per_sample(),
            gpt::Counts(a).forward_macs_per_sample());
}

}  // namespace
}  // namespace bench::steps
