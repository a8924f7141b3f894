#include "harness/sgd.hpp"

#include "harness/optimizer.hpp"
#include "harness/saved_state.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace bench::steps {

Sgd::Sgd(OptimizerRows rows, const Options& options)
    : rows_(std::move(rows)), velocity_(torch::zeros_like(rows_.weights)), options_(options) {
  check_rows(rows_);
}

void Sgd::step(double learning_rate, double gradient_scale) {
  const torch::NoGradGuard no_gradient;
#if !BENCH_TORCH_AT_LEAST(2, 4)
  if (rows_.weights.is_cpu())
    return step_in_one_pass(static_cast<float>(learning_rate), static_cast<float>(gradient_scale));
#endif
  step_with_kernels(learning_rate, gradient_scale);
}

#if BENCH_TORCH_AT_LEAST(2, 4)

// One kernel. It divides by the scale, leaves scaled gradients behind, and wants no velocity where
// there is no momentum.
void Sgd::step_with_kernels(double learning_rate, double gradient_scale) {
  std::vector<torch::Tensor> velocity;
  if (options_.momentum > 0)
    velocity.push_back(velocity_);
  at::_fused_sgd_(std::vector{rows_.weights}, std::vector{rows_.gradients}, velocity,
                  options_.weight_decay, options_.momentum, learning_rate, /*dampening=*/0,
                  /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/false,
                  torch::full({}, 1 / gradient_scale, rows_.gradients.options()));
}

#else

void Sgd::step_in_one_pass(float learning_rate, float gradient_scale) const {
  constexpr std::int64_t elements_per_thread = 1 << 15;  // below, another costs more than it brings
  const auto momentum = static_cast<float>(options_.momentum);
  const auto weight_decay = static_cast<float>(options_.weight_decay);
  float* const w = rows_.weights.data_ptr<float>();
  float* const v = velocity_.data_ptr<float>();
  const float* const g = rows_.gradients.data_ptr<float>();
  at::parallel_for(0, rows_.weights.numel(), elements_per_thread,
                   [=](std::int64_t begin, std::int64_t end) {
// The compiler alone would not see that the three arrays lie apart.
#pragma omp simd
                     for (std::int64_t i = begin; i < end; ++i) {
                       const float decayed = g[i] * gradient_scale + weight_decay * w[i];
                       v[i] = momentum * v[i] + decayed;
                       w[i] -= learning_rate * v[i];
                     }
                   });
}

void Sgd::step_with_kernels(double learning_rate, double gradient_scale) {
  velocity_.mul_(options_.momentum)
      .add_(rows_.gradients, gradient_scale)
      .add_(rows_.weights, options_.weight_decay);
  rows_.weights.add_(velocity_, -learning_rate);
}

#endif

void Sgd::save(SavedState& state) const {
  state.set("sgd_velocity", velocity_);
}

void Sgd::load(const SavedState& state) {
  state.copy_to("sgd_velocity", velocity_);
}

MakeOptimizer make_sgd(const Sgd::Options& options) {
  return [options](OptimizerRows rows) { return std::make_unique<Sgd>(std::move(rows), options); };
}

}  // namespace bench::steps
