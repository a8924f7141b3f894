#include "ap5/data.hpp"
#include "ap5/network.hpp"
#include "data/files.hpp"
#include "harness/errors.hpp"
#include "harness/precision.hpp"
#include "step_programs/program_runner.hpp"
#include "steps/command_line.hpp"
#include "steps/synthetic_batches.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_NETCDF
#include "steps_data/netcdf_test_file.hpp"
#endif

namespace bench::ap5 {
namespace {

using Shape = std::vector<std::int64_t>;

// The critic's layers have 48 x 60, 24 x 30, 12 x 15 and 6 x 8 points, so C is
// 9 (2880 * 64 + 720 * 64 * 128 + 180 * 128 * 256 + 48 * 256 * 512) + 512 * 64 + 64.
TEST(Ap5Cost, IsWhatIsPublished) {
  const WganCost published({}, 5);
  EXPECT_EQ(published.generator().trainable_parameters(), 7'747'658);
  EXPECT_EQ(published.generator().non_trainable_parameters(), 3'360);
  EXPECT_EQ(published.generator().forward_macs_per_sample(), 5'778'339'840);
  EXPECT_EQ(published.critic().trainable_parameters(), 1'584'641);
  EXPECT_EQ(published.critic().non_trainable_parameters(), 1'920);
  EXPECT_EQ(published.critic().forward_macs_per_sample(), 164'483'136);
  EXPECT_EQ(published.trainable_parameters(), 9'332'299);
  EXPECT_EQ(published.non_trainable_parameters(), 5'280);
}

// 2 (5 (G + 12 C) + 3 G + 2 C), and six batches of 15 fields.
TEST(Ap5Cost, CountsAStep) {
  const WganCost published({}, 5);
  EXPECT_EQ(published.training_flops_per_sample(), 112'849'346'304);
  EXPECT_EQ(published.generator().input_bytes_per_sample(), 691'200);
  EXPECT_EQ(published.step_bytes_per_sample(), 6 * 691'200);
}

/// A layer that sums 3x3 points, but for swish and a normalisation that has seen nothing.
torch::Tensor sums_of_ones(std::int64_t side) {
  const torch::NoGradGuard no_gradient;
  Layer layer(1, 1, 2);
  layer->eval();
  for (const auto& parameter : layer->named_parameters())
    if (parameter.key() == "convolution.weight")
      parameter.value().fill_(1);
    else if (parameter.key() == "convolution.bias")
      parameter.value().zero_();
  return layer(torch::ones({1, 1, side, side})).view({(side + 1) / 2, (side + 1) / 2});
}

torch::Tensor activated(const torch::Tensor& sums) {
  return torch::silu(sums / std::sqrt(1.001));
}

// TensorFlow's padding for a stride of 2: one behind an even side, one at both ends of an odd one.
TEST(Ap5Layer, PadsAsTensorFlowDoes) {
  EXPECT_TRUE(
      torch::allclose(sums_of_ones(4), activated(torch::tensor({{9.0F, 6.0F}, {6.0F, 4.0F}}))));
  EXPECT_TRUE(torch::allclose(
      sums_of_ones(5),
      activated(torch::tensor({{4.0F, 6.0F, 4.0F}, {6.0F, 9.0F, 6.0F}, {4.0F, 6.0F, 4.0F}}))));
}

TEST(Ap5Networks, MakeFineFieldsAndScoreThem) {
  const torch::NoGradGuard no_gradient;
  const torch::Tensor fine = Generator()(torch::rand({2, predictor_count, 16, 24}));
  EXPECT_EQ(fine.sizes(), (Shape{2, target_count, 16, 24}));
  EXPECT_EQ(Critic()(temperature_of(fine)).sizes(), (Shape{2, 1}));
}

/// Two small fields, in double precision.
class Ap5LossTest : public testing::Test {
 protected:
  Ap5LossTest() {
    torch::manual_seed(1);
    critic_ = Critic();
    critic_->to(torch::kDouble);
    generated_ = torch::rand({2, 2, 8, 8}, torch::kDouble);
    target_ = torch::rand({2, 2, 8, 8}, torch::kDouble);
    alpha_ = torch::tensor({-0.4, 1.3}, torch::kDouble).view({2, 1, 1, 1});
  }

  double penalty() {
    return gradient_penalty(critic_, temperature_of(generated_), temperature_of(target_), alpha_)
        .item<double>();
  }

  /// (|g| - 1)^2 with the critic's gradient from differences of its scores.
  double penalty_by_differences() {
    const torch::NoGradGuard no_gradient;
    constexpr double step = 1e-5;
    const torch::Tensor real = temperature_of(target_);
    const torch::Tensor point = real + alpha_ * (temperature_of(generated_) - real);
    const auto score = [&](std::int64_t i, double change) {
      torch::Tensor moved = point.clone();
      moved.view({-1})[i] += change;
      return critic_(moved).sum().item<double>();
    };
    double penalty = 0;
    const std::int64_t points = point.numel() / 2;
    for (std::int64_t sample = 0; sample < 2; ++sample) {
      double squares = 0;
      for (std::int64_t i = sample * points; i < (sample + 1) * points; ++i)
        squares += std::pow((score(i, step) - score(i, -step)) / (2 * step), 2);
      penalty += std::pow(std::sqrt(squares / static_cast<double>(points)) - 1, 2) / 2;
    }
    return penalty;
  }

  Critic critic_{nullptr};
  torch::Tensor generated_;
  torch::Tensor target_;
  torch::Tensor alpha_;
};

TEST_F(Ap5LossTest, PenaltyIsThatOfTheCriticsGradient) {
  EXPECT_NEAR(penalty() / penalty_by_differences(), 1, 1e-6);
}

TEST_F(Ap5LossTest, PenaltyTeachesTheCritic) {
  gradient_penalty(critic_, temperature_of(generated_), temperature_of(target_), alpha_).backward();
  constexpr double step = 1e-5;
  const auto parameters = critic_->named_parameters();
  for (const char* name : {"layer0.convolution.weight", "layer2.norm.weight", "score.weight"}) {
    const torch::Tensor weight = parameters[name].detach().view({-1});
    const double gradient = parameters[name].grad().view({-1})[0].item<double>();
    weight[0] += step;
    const double above = penalty();
    weight[0] -= 2 * step;
    const double below = penalty();
    weight[0] += step;
    EXPECT_NEAR(gradient, (above - below) / (2 * step), 1e-5 * std::abs(gradient) + 1e-9) << name;
  }
}

TEST_F(Ap5LossTest, OfTheCriticComparesScoresAndAddsTenPenalties) {
  const double distance =
      (critic_(temperature_of(generated_)).mean() - critic_(temperature_of(target_)).mean())
          .item<double>();
  EXPECT_NEAR(critic_loss(critic_, temperature_of(generated_), temperature_of(target_), alpha_)
                  .item<double>(),
              distance + 10 * penalty_by_differences(), 1e-5);
}

TEST_F(Ap5LossTest, OfTheGeneratorAddsItsErrorsAThousandfold) {
  generated_ = target_.clone();
  generated_.select(1, 0) += 0.25;
  generated_.select(1, 1) -= 0.5;
  const GeneratorLoss loss = generator_loss(critic_, generated_, target_);
  EXPECT_NEAR(loss.reconstruction.item<double>(), 0.75, 1e-12);
  EXPECT_NEAR(loss.total.item<double>(),
              750 - critic_(temperature_of(generated_)).mean().item<double>(), 1e-9);
}

bool has_gradients(const torch::nn::Module& network) {
  bool some = false;
  for (const torch::Tensor& parameter : network.parameters())
    some = some || parameter.grad().defined();
  return some;
}

TEST(Ap5Losses, EachTeachOneNetwork) {
  torch::manual_seed(1);
  Generator generator;
  Critic critic;
  const steps::Batch batch = synthetic_fields(2, {.height = 16, .width = 16});
  critic_loss(generator, critic, batch["predictors"], batch["target"]).backward();
  EXPECT_FALSE(has_gradients(*generator));
  EXPECT_TRUE(has_gradients(*critic));
  critic->zero_grad(/*set_to_none=*/true);
  generator_loss(critic, generator(batch["predictors"]), batch["target"]).total.backward();
  EXPECT_FALSE(has_gradients(*critic));
  for (const auto& parameter : generator->named_parameters())
    EXPECT_TRUE(parameter.value().grad().defined()) << parameter.key();
}

TEST(Ap5Losses, TrainInBf16) {
  torch::manual_seed(1);
  Generator generator;
  Critic critic;
  const steps::Batch batch = synthetic_fields(2, {.height = 16, .width = 16});
  const auto losses = [&] {
    torch::manual_seed(2);
    return std::pair(critic_loss(generator, critic, batch["predictors"], batch["target"]),
                     generator_loss(critic, generator(batch["predictors"]), batch["target"]).total);
  };
  const auto exact = losses();
  const auto rounded = [&] {
    const steps::Autocast autocast(torch::kCPU, steps::Precision::bf16);
    return losses();
  }();
  EXPECT_EQ(rounded.first.scalar_type(), torch::kFloat);
  // Ten penalties, of gradients of rounded scores.
  EXPECT_NEAR(rounded.first.item<double>() / exact.first.item<double>(), 1, 0.2);
  EXPECT_NEAR(rounded.second.item<double>() / exact.second.item<double>(), 1, 0.05);
  rounded.first.backward();
  rounded.second.backward();
}

TEST(Ap5Synthetic, TargetFollowsThePredictorsUpToNoise) {
  const steps::Batch batch = synthetic_fields(1, {.height = 16, .width = 16});
  const torch::Tensor coarse = batch["predictors"].select(1, 0);
  const torch::Tensor height = batch["predictors"].select(1, 14);
  const torch::Tensor noise = batch["target"].select(1, 0) - (coarse - 0.5 * height);
  EXPECT_LE(noise.abs().max().item<double>(), 0.05 + 1e-6);
  EXPECT_GT(noise.std().item<double>(), 0.02);
  EXPECT_TRUE(torch::equal(batch["target"].select(1, 1), height));
}

TEST(Ap5Options, RefuseABatchWithoutVariance) {
  EXPECT_NO_THROW(check_batch_size({.height = 16, .width = 16}, 2));
  EXPECT_NO_THROW(check_batch_size({.height = 16, .width = 24}, 1));
  EXPECT_THAT(steps::refusal_of([] { check_batch_size({.height = 16, .width = 16}, 1); }),
              testing::ContainsRegex(
                  "leaves the critic one value per channel.*\nhint: .*--width 24 or more"));
}

// AP5's files, written with netCDF itself.

#ifdef BENCH_STEPS_NETCDF

using support::message_of;

constexpr Grid tiny{.height = 1, .width = 2};

/// Two months with two times and with one. Variable v has 100 v + 0, 1, 2, ...
class Ap5DatasetTest : public testing::Test {
 protected:
  Ap5DatasetTest() {
    for (int i = 0; i < 14; ++i)
      options_.predictors.push_back("x" + std::to_string(i) + "_in");
    write("2006-01.nc", 2, 0);
    write("2006-02.nc", 1, 4);
  }

  void write(const std::string& name, std::size_t times, std::uint64_t first,
             std::size_t width = 2) const {
    steps::NetcdfTestFile file(path(name));
    for (std::size_t i = 0; i < 14; ++i)
      file.add(options_.predictors[i], {times, 1, width}, 100 * i + first);
    file.add("hsurf_tar", {times, 1, width}, 2000 + first);
    file.add("t_2m_tar", {times, 1, width}, 3000 + first);
  }

  std::string path(const std::string& name) const { return folder_.file(name); }
  std::unique_ptr<steps::FieldSource> open() const {
    steps::FieldMoments moments;
    return open_dataset({path("2006-01.nc"), path("2006-02.nc")}, tiny, options_, moments);
  }

  DatasetOptions options_;

 private:
  steps::Folder folder_;
};

// Of six numbers from 0 to 5, mean and deviation are 2.5 and sqrt(35 / 12).
TEST_F(Ap5DatasetTest, HasNormalisedPredictorsAndTargets) {
  const auto source = open();
  EXPECT_EQ(source->samples(), 3U);
  EXPECT_EQ(source->fields(), fields(tiny));
  auto sample = steps::read_sample(*source, 2);
  const double deviation = std::sqrt(35.0 / 12);
  std::vector<testing::Matcher<double>> expected;
  for (int i = 0; i < 15; ++i) {
    expected.push_back(testing::DoubleNear(1.5 / deviation, 1e-6));
    expected.push_back(testing::DoubleNear(2.5 / deviation, 1e-6));
  }
  EXPECT_THAT(sample["predictors"], testing::ElementsAreArray(expected));
  expected.resize(4);
  EXPECT_THAT(sample["target"], testing::ElementsAreArray(expected));
}

TEST_F(Ap5DatasetTest, NeedsFourteenPredictors) {
  options_.predictors.pop_back();
  EXPECT_EQ(message_of<steps::UsageError>([&] { open(); }),
            "13 variables are given as predictors, expected 14");
}

TEST_F(Ap5DatasetTest, TellsThePlaceOfAMissingValue) {
  {
    steps::NetcdfTestFile file(path("2006-02.nc"));
    for (const std::string& predictor : options_.predictors)
      file.add(predictor, {1, 1, 2});
    file.add("hsurf_tar", {1, 1, 2});
    file.write(file.define("t_2m_tar", NC_FLOAT, {1, 1, 2}), {270, NC_FILL_FLOAT});
  }
  EXPECT_EQ(message_of<steps::DataError>([&] { open(); }),
            path("2006-02.nc") + ": variable 't_2m_tar' at (0, 0, 1): missing value");
}

#endif

}  // namespace
}  // namespace bench::ap5
