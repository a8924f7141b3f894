#include "harness/sharded_adamw.hpp"

#include <algorithm>
#include <cmath>

namespace bench::steps {

ShardedAdamW::ShardedAdamW(FlatParameters& parameters, Communicator& communicator,
                           const AdamW::Options& options, bool sharded)
    : parameters_(parameters),
      communicator_(communicator),
      sharded_(sharded && communicator.size() > 1),
      length_(parameters.values().numel() / (sharded_ ? communicator.size() : 1)),
      begin_(sharded_ ? length_ * communicator.rank() : 0),
      weights_(share(parameters.values()).to(torch::kFloat)),
      adamw_(weights_, share(parameters.gradients()),
             std::clamp(parameters.decaying() - begin_, std::int64_t{0}, length_), options) {}

void ShardedAdamW::reduce_gradients() {
  const torch::NoGradGuard no_gradient;
  if (sharded_)
    share(parameters_.gradients()).copy_(communicator_.reduce_scatter(parameters_.gradients()));
  else
    communicator_.all_reduce(parameters_.gradients()).wait();
}

double ShardedAdamW::gradient_norm() {
  const torch::NoGradGuard no_gradient;
  torch::Tensor squares = share(parameters_.gradients()).norm().square();
  if (sharded_)
    communicator_.all_reduce(squares).wait();
  return std::sqrt(squares.item<double>()) / communicator_.size();
}

void ShardedAdamW::step(double learning_rate, double gradient_scale) {
  adamw_.step(learning_rate, gradient_scale / communicator_.size());
  publish();
}

void ShardedAdamW::publish() {
  const torch::NoGradGuard no_gradient;
  const torch::Tensor own = share(parameters_.values());
  if (!own.is_alias_of(weights_))
    own.copy_(weights_);
  if (sharded_)
    parameters_.values().copy_(communicator_.all_gather(own).flatten());
}

}  // namespace bench::steps
