#include "vision/network/batch_norm.hpp"

#include "vision/network/layers.hpp"
#include "vision/network/norm_over_ranks.hpp"

#include <cstdint>

namespace bench::vision {

BatchNormImpl::BatchNormImpl(std::int64_t channels, const Normalisation& options)
    : weight(register_parameter("weight", torch::ones(channels))),
      bias(register_parameter("bias", torch::zeros(channels))),
      running_mean_(register_buffer("running_mean", torch::zeros(channels))),
      running_variance_(register_buffer("running_var", torch::ones(channels))),
      options_(options) {}

torch::Tensor BatchNormImpl::forward(const torch::Tensor& images) {
  if (is_training() && ranks_ && ranks_->size() > 1)
    return normalise_over_ranks(images, {weight, bias, running_mean_, running_variance_}, options_,
                                *ranks_);
  namespace nn = torch::nn::functional;
  return nn::batch_norm(images, running_mean_, running_variance_,
                        nn::BatchNormFuncOptions()
                            .weight(weight)
                            .bias(bias)
                            .training(is_training())
                            .momentum(options_.momentum)
                            .eps(options_.epsilon));
}

}  // namespace bench::vision
