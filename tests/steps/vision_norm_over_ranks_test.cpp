// Batch normalisation over two ranks beside LibTorch's over all of their samples.

#include "harness/precision.hpp"
#include "steps/in_ranks.hpp"
#include "vision/network/model.hpp"

#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#ifdef BENCH_STEPS_GLOO

namespace bench::vision {
namespace {

constexpr double norm_epsilon = 1e-3;
constexpr double norm_momentum = 0.3;

struct SharedInput {
  const char* name;
  std::vector<std::int64_t> shape;  ///< Of both ranks together.
};
void PrintTo(const SharedInput& given, std::ostream* out) {
  *out << given.name;
}

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
                         [](const auto& instance) { return instance.param.name; });

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

}  // namespace
}  // namespace bench::vision

#endif
