#include "harness/lamb.hpp"

#include "harness/optimizer.hpp"
#include "harness/saved_state.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace bench::steps {

Lamb::Lamb(OptimizerRows rows, const Options& options)
    : rows_(std::move(rows)),
      mean_(torch::zeros_like(rows_.weights)),
      variance_(torch::zeros_like(rows_.weights)),
      options_(options) {
  check_rows(rows_);
}

void Lamb::step(double learning_rate, double gradient_scale) {
  const torch::NoGradGuard no_gradient;
  ++steps_;
  const torch::Tensor u = update(gradient_scale);
  const torch::Tensor ratios = trust_ratios(u);  // (parameters)
  for (std::size_t i = 0; i < rows_.parameters.size(); ++i) {
    const auto [begin, end] = rows_.parameters[i];
    if (begin < end)
      u.narrow(0, begin, end - begin).mul_(ratios[static_cast<std::int64_t>(i)]);
  }
  rows_.weights.add_(u, -learning_rate);
}

/// (N)
torch::Tensor Lamb::update(double gradient_scale) {
  const auto t = static_cast<double>(steps_);
  const torch::Tensor g = rows_.gradients * gradient_scale;
  mean_.mul_(options_.beta1).add_(g, 1 - options_.beta1);
  variance_.mul_(options_.beta2).addcmul_(g, g, 1 - options_.beta2);
  const torch::Tensor root =
      (variance_ / (1 - std::pow(options_.beta2, t))).sqrt_().add_(options_.epsilon);
  torch::Tensor u = (mean_ / (1 - std::pow(options_.beta1, t))).div_(root);
  const auto decaying = [&](const torch::Tensor& row) {
    return row.narrow(0, 0, rows_.matrix_numbers);
  };
  decaying(u).add_(decaying(rows_.weights), options_.weight_decay);
  return u;
}

/// |w| / |u| of each parameter, (parameters).
torch::Tensor Lamb::trust_ratios(const torch::Tensor& update) const {
  const auto count = static_cast<std::int64_t>(rows_.parameters.size());
  const torch::Tensor squares = torch::zeros({2, count}, update.options());  // of w, of u
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [begin, end] = rows_.parameters[static_cast<std::size_t>(i)];
    const std::int64_t matrix_end = std::min(end, rows_.matrix_numbers);
    if (begin >= matrix_end)
      continue;
    squares[0][i] = rows_.weights.narrow(0, begin, end - begin).square().sum();
    squares[1][i] = update.narrow(0, begin, end - begin).square().sum();
  }
  rows_.sum_over_shares(squares);
  const torch::Tensor norms = squares.sqrt();
  const torch::Tensor defined = norms[0].gt(0).logical_and(norms[1].gt(0));
  return torch::where(defined, norms[0] / norms[1], torch::ones_like(norms[0]));
}

void Lamb::save(SavedState& state) const {
  state.set("lamb_mean", mean_);
  state.set("lamb_variance", variance_);
  state.set_number("lamb_steps", static_cast<double>(steps_));
}

void Lamb::load(const SavedState& state) {
  state.copy_to("lamb_mean", mean_);
  state.copy_to("lamb_variance", variance_);
  steps_ = static_cast<std::int64_t>(state.number("lamb_steps"));
}

MakeOptimizer make_lamb(const Lamb::Options& options) {
  return [options](OptimizerRows rows) { return std::make_unique<Lamb>(std::move(rows), options); };
}

}  // namespace bench::steps
