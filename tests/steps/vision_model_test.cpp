#include "harness/precision.hpp"
#include "steps/expect_counted.hpp"
#include "steps/in_ranks.hpp"
#include "support/case_name.hpp"
#include "vision/network/model.hpp"
#include "vision/network/tables.hpp"

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bench::vision {

// The networks of vision: what their tables count, and that what is built from them fits.

namespace {

struct PublishedModel {
  const char* name;
  std::int64_t classes;
  std::int64_t image_size;
  std::int64_t trainable_parameters;
  std::int64_t non_trainable_parameters;
  std::int64_t forward_macs_per_sample;
};

// With 1000 classes: torchvision's documentation of its weights for the parameters, the sums over
// the tables of the paper, with the v1.5 stride in bottlenecks, for the multiply-adds. With 1001:
// the networks of tf_cnn_benchmarks, counted by hooks on another implementation, in Python.
TEST(Architecture, CountsWhatIsPublished) {
  const PublishedModel cases[] = {{"resnet18", 1000, 224, 11'689'512, 9'600, 1'814'073'344},
                                  {"resnet34", 1000, 224, 21'797'672, 17'024, 3'663'761'408},
                                  {"resnet50", 1000, 224, 25'557'032, 53'120, 4'089'184'256},
                                  {"resnet101", 1000, 224, 44'549'160, 105'344, 7'801'405'440},
                                  {"resnet152", 1000, 224, 60'192'808, 151'424, 11'513'626'624},
                                  {"resnet50_v2", 1001, 224, 25'551'529, 45'568, 3'857'975'296},
                                  {"vgg16", 1001, 224, 138'361'641, 0, 15'470'268'416},
                                  {"alexnet", 1001, 227, 61'842'345, 0, 838'792'896},
                                  {"inception3", 1001, 299, 23'819'401, 34'432, 5'713'218'144}};
  for (const PublishedModel& model : cases) {
    SCOPED_TRACE(model.name);
    const Architecture architecture = make_architecture(model.name, model.classes);
    EXPECT_EQ(architecture.image_size, model.image_size);
    const steps::Cost cost = count(architecture.layers, Architecture::input(model.image_size)).cost;
    EXPECT_EQ(cost.trainable_parameters(), model.trainable_parameters);
    EXPECT_EQ(cost.non_trainable_parameters(), model.non_trainable_parameters);
    EXPECT_EQ(cost.forward_macs_per_sample(), model.forward_macs_per_sample);
    EXPECT_EQ(cost.training_flops_per_sample(), 6 * model.forward_macs_per_sample);
    EXPECT_EQ(cost.input_bytes_per_sample(), 3 * model.image_size * model.image_size * 4);
  }
}

/// Each network at the smallest size, where even the largest is cheap.
class NetworkTest : public testing::TestWithParam<std::string> {
 protected:
  NetworkTest()
      : architecture(make_architecture(GetParam(), 10)),
        size(smallest_image_size(architecture)),
        input(Architecture::input(size)) {
    torch::manual_seed(1);
  }

  const Architecture architecture;
  const std::int64_t size;
  const Shape input;
};

INSTANTIATE_TEST_SUITE_P(Vision, NetworkTest, testing::ValuesIn(architecture_names()),
                         [](const auto& instance) { return instance.param; });

TEST_P(NetworkTest, IsBuiltAsItIsCounted) {
  const Network model(architecture.layers, input);
  steps::expect_counted(count(architecture.layers, input).cost, *model);
}

TEST_P(NetworkTest, ReachesEveryParameterWithAGradient) {
  Network model(architecture.layers, input);
  const torch::Tensor scores = model->forward(torch::randn({4, 3, size, size}));
  ASSERT_EQ(scores.sizes(), (std::vector<std::int64_t>{4, 10}));
  const torch::Tensor loss = torch::cross_entropy_loss(scores, torch::tensor({3, 9, 0, 1}));
  EXPECT_TRUE(std::isfinite(loss.item<double>()));
  loss.backward();
  for (const auto& parameter : model->named_parameters()) {
    if (!parameter.value().requires_grad())
      continue;
    ASSERT_TRUE(parameter.value().grad().defined()) << parameter.key();
    EXPECT_GT(parameter.value().grad().abs().sum().item<double>(), 0) << parameter.key();
  }
}

TEST_P(NetworkTest, GivesOneScorePerClassForLargerImages) {
  const std::int64_t larger = size + 37;
  Network model(architecture.layers, Architecture::input(larger));
  const torch::NoGradGuard no_gradient;
  EXPECT_EQ(model->forward(torch::randn({2, 3, larger, larger})).sizes(),
            (std::vector<std::int64_t>{2, 10}));
}

TEST_P(NetworkTest, GivesTheSameScoresWithChannelsLast) {
  Network model(architecture.layers, input);
  model->eval();
  const torch::NoGradGuard no_gradient;
  const torch::Tensor images = torch::randn({2, 3, size, size});
  const torch::Tensor scores = model->forward(images);
  for (torch::Tensor& weight : model->parameters())
    if (weight.dim() == 4)
      weight.set_data(weight.contiguous(torch::MemoryFormat::ChannelsLast));
  const torch::Tensor again = model->forward(images.contiguous(torch::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(torch::allclose(scores, again, 1e-3, 1e-3 * scores.abs().max().item<double>()));
}

TEST(Architecture, KnowsTheSmallestImages) {
  const auto smallest = [](const char* name) {
    return smallest_image_size(make_architecture(name, 10));
  };
  EXPECT_EQ(smallest("resnet50"), 1);
  EXPECT_EQ(smallest("resnet50_v2"), 1);
  EXPECT_EQ(smallest("vgg16"), 32);       // halved five times
  EXPECT_EQ(smallest("alexnet"), 67);     // 4 * 14 + 11; then 15, 7, 3, 1
  EXPECT_EQ(smallest("inception3"), 75);  // then 37, 35, 17, 15, 7, 3, 1
}

TEST(Architecture, RefusesUnknownNames) {
  EXPECT_THROW(make_architecture("resnet19", 10), std::invalid_argument);
}

TEST(OutputSize, FollowsThePadding) {
  struct Case {
    std::int64_t input, kernel, stride;
    Padding padding;
    std::int64_t expected;
  };
  const Case cases[] = {
      {227, 11, 4, Padding::none, 55}, {224, 7, 2, Padding::half, 112}, {5, 3, 2, Padding::half, 3},
      {112, 3, 2, Padding::same, 56},  {5, 3, 2, Padding::same, 3},     {2, 3, 2, Padding::none, 0},
      {0, 3, 1, Padding::half, 0},     {0, 3, 2, Padding::same, 0},     {1, 7, 2, Padding::half, 1},
  };
  for (const Case& c : cases)
    EXPECT_EQ(output_size(c.input, c.kernel, c.stride, c.padding), c.expected)
        << c.input << " " << c.kernel << " " << c.stride;
}

// A 7x7 convolution and a 3x3 pooling of stride 2, then 1x1 convolutions from 64 to 256 channels in
// one path of the block, and through 64 with a 3x3 kernel in the other.
TEST(Network, IsCountedForImagesThatAreNotSquare) {
  Path layers = resnet(ResidualBlock::bottleneck, {1, 0, 0, 0});
  layers.push_back(Linear{5});
  const Shape input{25, 40, 71};
  EXPECT_EQ(
      count(layers, input).cost.forward_macs_per_sample(),
      25 * 64 * 49 * 20 * 36 + (64 * 256 + 64 * 64 + 64 * 64 * 9 + 64 * 256) * 10 * 18 + 256 * 5);
  Network network(layers, input);
  steps::expect_counted(count(layers, input).cost, *network);
  EXPECT_EQ(network->forward(torch::randn({2, 25, 40, 71})).sizes(),
            (std::vector<std::int64_t>{2, 5}));
}

/// What one layer makes of an image.
torch::Tensor through(const Layer& layer, const torch::Tensor& image) {
  Network network(Path{layer}, Shape{image.size(1), image.size(2), image.size(3)});
  return network->forward(image);
}

torch::Tensor ramp(std::int64_t size) {
  return torch::arange(3 * size * size, torch::kFloat).view({1, 3, size, size});
}

TEST(Network, PoolsAsTensorFlowDoesWithSame) {
  const Pooling pooling{Pooling::Kind::maximum, 3, 2, Padding::same};
  for (const std::int64_t size : {5, 6}) {  // 1 pixel on all sides; 1 below and right only
    const std::int64_t before = size % 2;
    const torch::Tensor padded = torch::constant_pad_nd(ramp(size), {before, 1, before, 1}, -1);
    EXPECT_TRUE(torch::equal(through(pooling, ramp(size)), torch::max_pool2d(padded, 3, 2)));
  }
}

TEST(Network, AveragesOverThePixelsThatAreThere) {
  const torch::Tensor corner =
      through(Pooling{Pooling::Kind::average, 3, 1, Padding::half}, ramp(4)).index({0, 0, 0, 0});
  EXPECT_FLOAT_EQ(corner.item<float>(), (0 + 1 + 4 + 5) / 4.0F);
}

TEST(Network, AddsAndJoinsPaths) {
  const Pooling pooling{Pooling::Kind::maximum, 1, 1};
  const torch::Tensor image = ramp(2);
  EXPECT_TRUE(torch::equal(through(Branches{Branches::Join::sum, {{pooling}, {}}}, image.clone()),
                           2 * image));
  EXPECT_TRUE(torch::equal(through(Branches{Branches::Join::concatenation, {{pooling}, {}}}, image),
                           torch::cat({image, image}, 1)));
}

TEST(Network, KeepsFactorsThatAreNotLearntAtOne) {
  Network model(Path{Normalisation{1e-3, 1e-3, false}}, Architecture::input(4));
  const torch::Tensor out = model->forward(torch::randn({8, 3, 4, 4}));
  EXPECT_NEAR(out.std(0, false).mean().item<double>(), 1, 0.2);
  out.sum().backward();
  const auto parameters = model->named_parameters();
  EXPECT_FALSE(parameters["layers.normalisation0.weight"].grad().defined());
  EXPECT_TRUE(parameters["layers.normalisation0.bias"].grad().defined());
}

TEST(Network, DropsOnlyWhileItTrains) {
  Network model(Path{Dropout{0.5}}, Architecture::input(64));
  const torch::Tensor image = torch::ones({1, 3, 64, 64});
  EXPECT_NEAR(model->forward(image).eq(0).to(torch::kFloat).mean().item<double>(), 0.5, 0.03);
  model->eval();
  EXPECT_TRUE(torch::equal(model->forward(image), image));
}

TEST(Network, BeginsWithTheDeviationOfHeAndOthers) {
  torch::manual_seed(1);
  const auto deviation_of_first = [](const Path& path) {
    const Network model(path, Architecture::input(67));
    return model->named_parameters()["layers.convolution0.weight"].std().item<double>();
  };
  const double fan_out = 64.0 * 7 * 7;
  EXPECT_NEAR(deviation_of_first(resnet(ResidualBlock::basic, {1, 1, 1, 1})),
              std::sqrt(2.0 / fan_out), 1e-3);
  const double fan_in = 3.0 * 11 * 11;
  EXPECT_NEAR(deviation_of_first(alexnet()), std::sqrt(2.0 / fan_in), 1e-3);
}

TEST(Resnet, HasTheStrideOfItsForm) {
  const Path v1 = resnet(ResidualBlock::bottleneck, {1, 1, 1, 1});
  const Path v2 = resnet(ResidualBlock::preactivation, {1, 1, 1, 1});
  const auto strides = [](const Path& layers, std::size_t index) {
    std::vector<std::int64_t> result;
    for (const Layer& layer : std::get<Branches>(layers[index].any()).paths.front())
      if (const auto* convolution = std::get_if<Convolution>(&layer.any()))
        result.push_back(convolution->stride);
    return result;
  };
  // Behind convolution, norm, ReLU and pool: sum, ReLU, sum; norm, ReLU, sum, norm, ReLU, sum.
  EXPECT_EQ(strides(v1, 6), (std::vector<std::int64_t>{1, 2, 1}));
  EXPECT_EQ(strides(v2, 9), (std::vector<std::int64_t>{2, 1, 1}));
}

// Batch normalisation over two ranks beside LibTorch's over all of their samples.

#ifdef BENCH_STEPS_GLOO

constexpr double norm_epsilon = 1e-3;
constexpr double norm_momentum = 0.3;

struct SharedInput {
  const char* name;
  std::vector<std::int64_t> shape;  ///< Of both ranks together.
};

struct NormResults {
  torch::Tensor output;
  torch::Tensor of_input;  ///< Gradient.
  torch::Tensor of_weight;
  torch::Tensor of_bias;
  torch::Tensor running_mean;
  torch::Tensor running_variance;
};

class NormOverRanksTest : public testing::TestWithParam<SharedInput> {
 protected:
  NormOverRanksTest() {
    torch::manual_seed(3);
    const std::int64_t channels = GetParam().shape[1];
    // A mean that differs between the ranks.
    input_ = torch::randn(GetParam().shape, torch::kDouble);
    input_.narrow(0, 0, input_.size(0) / 2).add_(5);
    weight_ = torch::rand(channels, torch::kDouble) + 0.5;
    bias_ = torch::randn(channels, torch::kDouble);
    gradient_ = torch::randn_like(input_);
  }

  /// Of the samples of one rank.
  NormResults results(steps::Communicator& ranks) const {
    const std::int64_t own = input_.size(0) / ranks.size();
    const auto share = [&](const torch::Tensor& all) {
      return all.narrow(0, ranks.rank() * own, own).clone();
    };
    BatchNorm norm(weight_.size(0),
                   Normalisation{.epsilon = norm_epsilon, .momentum = norm_momentum});
    norm->to(torch::kDouble);
    {
      const torch::NoGradGuard no_gradient;
      norm->weight.copy_(weight_);
      norm->bias.copy_(bias_);
    }
    normalise_over_ranks(*norm, ranks);
    const torch::Tensor input = share(input_).requires_grad_();
    const torch::Tensor output = norm(input);
    output.backward(share(gradient_));
    const auto buffers = norm->named_buffers();
    return {output.detach(),         input.grad(),          norm->weight.grad(), norm->bias.grad(),
            buffers["running_mean"], buffers["running_var"]};
  }

  torch::Tensor input_;
  torch::Tensor weight_;
  torch::Tensor bias_;
  torch::Tensor gradient_;
};

TEST_P(NormOverRanksTest, IsThatOfOneRankWithAllSamples) {
  steps::Communicator alone;
  const NormResults expected = results(alone);
  std::vector<NormResults> found(2);
  steps::in_ranks(2, [&](steps::Communicator& ranks) {
    found[static_cast<std::size_t>(ranks.rank())] = results(ranks);
  });
  const auto joined = [&](torch::Tensor NormResults::*member) {
    return torch::cat({found[0].*member, found[1].*member});
  };
  EXPECT_TRUE(torch::allclose(joined(&NormResults::output), expected.output));
  EXPECT_TRUE(torch::allclose(joined(&NormResults::of_input), expected.of_input));
  EXPECT_TRUE(torch::allclose(found[0].of_weight + found[1].of_weight, expected.of_weight));
  EXPECT_TRUE(torch::allclose(found[0].of_bias + found[1].of_bias, expected.of_bias));
  for (const NormResults& of_rank : found) {
    EXPECT_TRUE(torch::allclose(of_rank.running_mean, expected.running_mean));
    EXPECT_TRUE(torch::allclose(of_rank.running_variance, expected.running_variance));
  }
}

INSTANTIATE_TEST_SUITE_P(Vision, NormOverRanksTest,
                         testing::Values(SharedInput{"Images", {4, 3, 5, 7}},
                                         SharedInput{"OneValuePerRank", {2, 3, 1, 1}},
                                         SharedInput{"Features", {6, 5}}),
                         support::case_name);

TEST(NormOverRanks, KeepsTheFormatOfItsInput) {
  steps::in_ranks(2, [](steps::Communicator& ranks) {
    BatchNorm norm(3, Normalisation{});
    norm->set_ranks(ranks);
    const torch::Tensor input =
        torch::rand({2, 3, 4, 4}, torch::TensorOptions(torch::kBFloat16).requires_grad(true));
    const torch::Tensor output = norm(input);
    EXPECT_EQ(output.scalar_type(), torch::kBFloat16);
    output.sum().backward();
    EXPECT_EQ(input.grad().scalar_type(), torch::kBFloat16);
  });
}

#endif

}  // namespace
}  // namespace bench::vision
