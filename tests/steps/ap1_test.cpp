#include "ap1/data.hpp"
#include "ap1/network.hpp"
#include "steps/command_line.hpp"
#include "steps/synthetic_batches.hpp"
#include "support/message_of.hpp"

#include <algorithm>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>

namespace bench::ap1 {
namespace {

using Shape = std::vector<std::int64_t>;

TEST(Ap1Network, GivesThreeQuantilesAtEachGridPoint) {
  const torch::NoGradGuard no_gradient;
  EXPECT_EQ(UNet()(torch::rand({2, predictor_count, 64, 64})).sizes(), (Shape{2, 3, 64, 64}));
}

TEST(Ap1Network, ActivationsDifferBelowZero) {
  const torch::NoGradGuard no_gradient;
  const torch::Tensor x = torch::rand({1, predictor_count, 64, 64});
  torch::manual_seed(1);
  UNet relu(Activation::relu);
  torch::manual_seed(1);
  UNet leaky(Activation::leaky_relu);
  EXPECT_FALSE(torch::allclose(relu(x), leaky(x)));
}

// By the width that a point of the lowest resolution has in the input. The padding at the right and
// lower edge is another place, which the points compared here do not see.
TEST(Ap1Network, ShiftsItsOutputWithItsInput) {
  const torch::NoGradGuard no_gradient;
  torch::manual_seed(1);
  UNet network;
  network->eval();
  const torch::Tensor x = torch::rand({1, predictor_count, 128, 128});
  const torch::Tensor shifted = torch::roll(x, patch_divisor, 3);
  const std::int64_t inner = 64;
  EXPECT_TRUE(torch::allclose(network(x).narrow(3, 0, inner),
                              network(shifted).narrow(3, patch_divisor, inner), 1e-4, 1e-5));
}

// Of (q - 1{e < 0}) e for q = 0.1, 0.5, 0.9. Errors of 2 cost 0.2, 1 and 1.8, of -1 0.9, 0.5, 0.1.
TEST(Ap1Loss, IsTheMeanOfThreeQuantileScores) {
  const torch::Tensor prediction = torch::zeros({1, 3, 1, 2});
  const torch::Tensor target = torch::tensor({2.0F, -1.0F}).view({1, 1, 1, 2});
  EXPECT_NEAR(quantile_loss(prediction, target).item<double>(),
              (0.2 + 1 + 1.8 + 0.9 + 0.5 + 0.1) / 6, 1e-6);
}

TEST(Ap1Loss, IsZeroForAPerfectPrediction) {
  const torch::Tensor target = torch::rand({2, 1, 4, 4});
  EXPECT_EQ(quantile_loss(target.expand({2, 3, 4, 4}), target).item<double>(), 0);
}

TEST(Ap1Loss, IsLeastAtTheQuantiles) {
  const torch::Tensor target = torch::linspace(0, 1, 1001).view({1, 1, 1, 1001});
  const auto loss_of = [&](double low, double middle, double high) {
    const torch::Tensor prediction = torch::tensor({low, middle, high}, torch::kFloat);
    return quantile_loss(prediction.view({1, 3, 1, 1}).expand({1, 3, 1, 1001}), target)
        .item<double>();
  };
  // The score of quantile q of a uniform distribution is q (1 - q) / 2.
  EXPECT_NEAR(loss_of(0.1, 0.5, 0.9), (0.09 + 0.25 + 0.09) / 6, 1e-4);
  EXPECT_GT(loss_of(0.2, 0.5, 0.9), loss_of(0.1, 0.5, 0.9));
  EXPECT_GT(loss_of(0.1, 0.4, 0.9), loss_of(0.1, 0.5, 0.9));
  EXPECT_GT(loss_of(0.1, 0.5, 0.8), loss_of(0.1, 0.5, 0.9));
}

TEST(Ap1Synthetic, TargetFollowsThePredictorsUpToNoise) {
  const auto [predictors, target] = synthetic_patches(1, 32);
  const auto channel = [&](Predictor predictor) {
    return predictors.select(1, static_cast<std::int64_t>(predictor)).unsqueeze(1);
  };
  const torch::Tensor expected =
      2 * channel(Predictor::bias_yesterday) - 1 +
      channel(Predictor::altitude) * torch::cos(std::numbers::pi * channel(Predictor::leadtime));
  const torch::Tensor noise = target - expected;
  EXPECT_TRUE((noise.abs() <= channel(Predictor::analysis_std) / 2 + 1e-6).all().item<bool>());
  EXPECT_GT(noise.std().item<double>(), 0.1);
}

/// @throws CLI::ParseError if the options are wrong
NetworkOptions network_options_of(std::vector<std::string> arguments) {
  CLI::App app;
  NetworkOptions options;
  add_network_options(app, options);
  std::ranges::reverse(arguments);  // as CLI11 takes them
  app.parse(arguments);
  return options;
}

TEST(Ap1Options, ChooseTheNetwork) {
  EXPECT_EQ(network_options_of({}).patch, 256);
  EXPECT_EQ(network_options_of({}).activation(), Activation::relu);
  const NetworkOptions options =
      network_options_of({"--patch", "64", "--activation", "leaky_relu"});
  EXPECT_EQ(options.patch, 64);
  EXPECT_EQ(options.activation(), Activation::leaky_relu);
}

TEST(Ap1Options, RefuseAPatchThatCannotBeHalvedFiveTimes) {
  for (const char* patch : {"100", "0", "-32", "32768", "64.0"})
    EXPECT_THAT(support::message_of<CLI::ParseError>([&] {
                  network_options_of({"--patch", patch});
                }),
                testing::HasSubstr("is not a multiple of 32 from 32 to 16384"));
}

TEST(Ap1Options, RefuseABatchWithoutVariance) {
  EXPECT_NO_THROW(check_batch_size({.patch = 32}, 2));
  EXPECT_NO_THROW(check_batch_size({.patch = 64}, 1));
  EXPECT_THAT(steps::refusal_of([] { check_batch_size({.patch = 32}, 1); }),
              testing::ContainsRegex("one value per channel.*\nhint: .*--patch 64 or more"));
}

}  // namespace
}  // namespace bench::ap1
