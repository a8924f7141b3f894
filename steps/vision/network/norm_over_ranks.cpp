#include "vision/network/norm_over_ranks.hpp"

#include "harness/communicator.hpp"
#include "vision/network/batch_norm.hpp"
#include "vision/network/layers.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

namespace bench::vision {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// All dimensions but that of the channels.
std::vector<std::int64_t> dimensions_of_channel(const torch::Tensor& x) {
  std::vector<std::int64_t> dimensions{0};
  for (std::int64_t d = 2; d < x.dim(); ++d)
    dimensions.push_back(d);
  return dimensions;
}

/// (C) -> (1, C, 1, ...), which is added to and multiplied with x.
torch::Tensor beside(const torch::Tensor& x, const torch::Tensor& channels) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.dim()), 1);
  shape[1] = channels.size(0);
  return channels.view(shape);
}

/// Numbers of a channel on all ranks.
double numbers_per_channel(const torch::Tensor& x, const steps::Communicator& ranks) {
  return static_cast<double>(x.numel() / x.size(1)) * ranks.size();
}

struct ChannelMoments {
  torch::Tensor mean;      // (C)
  torch::Tensor variance;  // (C), over n, not n - 1
};

/// Those of each rank, and what their means differ: a sum of squares would lose digits.
ChannelMoments moments_over_ranks(const torch::Tensor& x, steps::Communicator& ranks) {
  const auto [variance, mean] = torch::var_mean(x, dimensions_of_channel(x), /*unbiased=*/false);
  const torch::Tensor all = ranks.all_gather(torch::stack({mean, variance}));  // (ranks, 2, C)
  const torch::Tensor means = all.select(1, 0);
  const torch::Tensor common = means.mean(0);
  return {common, all.select(1, 1).mean(0) + (means - common).square().mean(0)};
}

class NormaliseOverRanks : public torch::autograd::Function<NormaliseOverRanks> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& input,
                               const torch::Tensor& weight, const torch::Tensor& bias,
                               const NormTensors& tensors, const Normalisation& options,
                               steps::Communicator* ranks) {
    const torch::Tensor x = input.to(weight.scalar_type());
    const auto [mean, variance] = moments_over_ranks(x, *ranks);
    const double n = numbers_per_channel(x, *ranks);
    tensors.running_mean.lerp_(mean, options.momentum);
    // The running variance is the unbiased one, as in LibTorch.
    tensors.running_variance.lerp_(variance * (n / (n - 1)), options.momentum);
    const torch::Tensor inverse_deviation = torch::rsqrt(variance + options.epsilon);
    context->save_for_backward({input, weight, mean, inverse_deviation});
    context->saved_data["ranks"] = reinterpret_cast<std::int64_t>(ranks);
    const torch::Tensor y =
        (x - beside(x, mean)) * beside(x, inverse_deviation * weight) + beside(x, bias);
    return y.to(input.scalar_type());
  }

  // With n numbers in a channel of all ranks, g their gradients and d = x - mean:
  //     dx = weight / deviation * (g - sum(g) / n - d * sum(g * d) / (n * deviation^2))
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto [weight, mean, inverse_deviation] = std::tie(saved[1], saved[2], saved[3]);
    auto& ranks = *reinterpret_cast<steps::Communicator*>(context->saved_data["ranks"].toInt());
    const torch::Tensor x = saved[0].to(weight.scalar_type());
    const torch::Tensor g = gradients[0].to(weight.scalar_type());
    const torch::Tensor d = x - beside(x, mean);
    const std::vector<std::int64_t> dimensions = dimensions_of_channel(x);
    const torch::Tensor sums = torch::stack({g.sum(dimensions), (g * d).sum(dimensions)});
    const torch::Tensor of_bias = sums[0].clone();
    const torch::Tensor of_weight = sums[1] * inverse_deviation;
    ranks.all_reduce(sums).wait();
    const torch::Tensor means = sums / numbers_per_channel(x, ranks);
    const torch::Tensor of_x =
        beside(x, weight * inverse_deviation) *
        (g - beside(x, means[0]) - d * beside(x, inverse_deviation.square() * means[1]));
    return {of_x.to(saved[0].scalar_type()), of_weight, of_bias, {}, {}, {}};
  }
};

}  // namespace

torch::Tensor normalise_over_ranks(const torch::Tensor& x, const NormTensors& tensors,
                                   const Normalisation& options, steps::Communicator& ranks) {
  return NormaliseOverRanks::apply(x, tensors.weight, tensors.bias, tensors, options, &ranks);
}

void normalise_over_ranks(torch::nn::Module& network, steps::Communicator& ranks) {
  for (const std::shared_ptr<torch::nn::Module>& module : network.modules())
    if (auto* norm = module->as<BatchNormImpl>())
      norm->set_ranks(ranks);
}

}  // namespace bench::vision
