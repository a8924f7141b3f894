#include "harness/sharded_adamw.hpp"

#include <algorithm>
#include <cmath>

namespace bench::steps {

ShardedAdamW::ShardedAdamW(FlatParameters& parameters, Communicator& data, Communicator& all,
                           const AdamW::Options& options, bool sharded)
    : parameters_(parameters),
      data_(data),
      all_(all),
      sharded_(sharded && data.size() > 1),
      length_(parameters.values().numel() / (sharded_ ? data.size() : 1)),
      begin_(sharded_ ? length_ * data.rank() : 0),
      weights_(share(parameters.values()).to(torch::kFloat)),
      adamw_(weights_, share(parameters.gradients()),
             std::clamp(parameters.decaying() - begin_, std::int64_t{0}, length_), options) {}

void ShardedAdamW::reduce_gradients() {
  const torch::NoGradGuard no_gradient;
  if (sharded_)
    share(parameters_.gradients()).copy_(data_.reduce_scatter(parameters_.gradients()));
  else
    data_.all_reduce(parameters_.gradients()).wait();
}

/// So that each number of the model counts once.
bool ShardedAdamW::speaks_for_its_share() const {
  return sharded_ || data_.rank() == 0;
}

double ShardedAdamW::gradient_norm() {
  const torch::NoGradGuard no_gradient;
  torch::Tensor squares = torch::zeros({}, parameters_.gradients().options().dtype(torch::kDouble));
  for (const auto& [begin, end] : parameters_.own()) {
    const std::int64_t from = std::max(begin, begin_);
    const std::int64_t to = std::min(end, begin_ + length_);
    if (from < to && speaks_for_its_share())
      squares += parameters_.gradients().narrow(0, from, to - from).norm().square();
  }
  all_.all_reduce(squares).wait();
  return std::sqrt(squares.item<double>()) / data_.size();
}

void ShardedAdamW::step(double learning_rate, double gradient_scale) {
  adamw_.step(learning_rate, gradient_scale / data_.size());
  publish();
}

void ShardedAdamW::publish() {
  const torch::NoGradGuard no_gradient;
  const torch::Tensor own = share(parameters_.values());
  if (!own.is_alias_of(weights_))
    own.copy_(weights_);
  if (sharded_)
    parameters_.values().copy_(data_.all_gather(own).flatten());
}

void ShardedAdamW::save(SavedState& state) const {
  if (!speaks_for_its_share())
    return;
  state.set("weights", weights_);
  adamw_.save(state);
}

void ShardedAdamW::load(const SavedState& state) {
  state.copy_to("weights", weights_);
  adamw_.load(state);
  publish();
}

}  // namespace bench::steps
