#include "harness/sharded_optimizer.hpp"

#include "harness/communicator.hpp"
#include "harness/flat_parameters.hpp"
#include "harness/optimizer.hpp"
#include "harness/row_layout.hpp"
#include "harness/saved_state.hpp"

#include <algorithm>
#include <cstdint>

namespace bench::steps {

ShardedOptimizer::ShardedOptimizer(FlatParameters& parameters, Communicator& data,
                                   Communicator& all, const MakeOptimizer& make, bool sharded)
    : parameters_(parameters),
      data_(data),
      all_(all),
      sharded_(sharded && data.size() > 1),
      length_(parameters.values().numel() / (sharded_ ? data.size() : 1)),
      begin_(sharded_ ? length_ * data.rank() : 0),
      weights_(own_part(parameters.values()).to(torch::kFloat)),
      optimizer_(make(rows())) {}

OptimizerRows ShardedOptimizer::rows() {
  const auto inside = [&](std::int64_t place) {
    return std::clamp(place - begin_, std::int64_t{0}, length_);
  };
  OptimizerRows rows{.weights = weights_,
                     .gradients = own_part(parameters_.gradients()),
                     .matrix_numbers = inside(parameters_.matrix_numbers())};
  for (const FlatParameters::Slot& slot : parameters_.slots())
    rows.parameters.push_back({inside(slot.range.begin), inside(slot.range.end)});
  if (sharded_)
    rows.sum_over_shares = [this](const torch::Tensor& sums) { data_.all_reduce(sums).wait(); };
  return rows;
}

/// So that each number of the model counts once.
bool ShardedOptimizer::speaks_for_its_share() const {
  return sharded_ || data_.rank() == 0;
}

torch::Tensor ShardedOptimizer::gradient_norm() {
  const torch::NoGradGuard no_gradient;
  torch::Tensor squares = torch::zeros({}, parameters_.gradients().options().dtype(torch::kDouble));
  for (const auto& [begin, end] : parameters_.own()) {
    const std::int64_t from = std::max(begin, begin_);
    const std::int64_t to = std::min(end, begin_ + length_);
    if (from < to && speaks_for_its_share())
      squares += parameters_.gradients().narrow(0, from, to - from).norm().square();
  }
  all_.all_reduce(squares).wait();
  return squares.sqrt_().div_(data_.size());
}

void ShardedOptimizer::step(double learning_rate, double gradient_scale) {
  optimizer_->step(learning_rate, gradient_scale / data_.size());
  publish();
}

void ShardedOptimizer::publish() {
  const torch::NoGradGuard no_gradient;
  const torch::Tensor own = own_part(parameters_.values());
  if (!own.is_alias_of(weights_))
    own.copy_(weights_);
  if (sharded_)
    data_.all_gather_in_place(parameters_.values());
}

void ShardedOptimizer::save(SavedState& state) const {
  if (!speaks_for_its_share())
    return;
  state.set(saved_weights, weights_);
  optimizer_->save(state);
}

void ShardedOptimizer::load(const SavedState& state) {
  state.copy_to(saved_weights, weights_);
  optimizer_->load(state);
  publish();
}

}  // namespace bench::steps
