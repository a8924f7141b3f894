#include "harness/sgd.hpp"

#include <stdexcept>

namespace bench::steps {
namespace {

// Below this a second thread costs more than it brings.
constexpr std::int64_t elements_per_thread = 1 << 15;

/// The gradient in the parameter's order of memory, so that both can be walked side by side.
torch::Tensor aligned_gradient(const torch::Tensor& parameter) {
  const torch::Tensor gradient = parameter.grad();
  if (gradient.strides() == parameter.strides())
    return gradient;
  return torch::empty_like(parameter, gradient.options()).copy_(gradient);
}

}  // namespace

Sgd::Sgd(std::vector<torch::Tensor> parameters, const Options& options) : options_(options) {
  for (torch::Tensor& parameter : parameters) {
    if (parameter.scalar_type() != torch::kFloat || !parameter.is_non_overlapping_and_dense())
      throw std::invalid_argument("Sgd takes dense fp32 parameters");
    const torch::Tensor velocity = torch::zeros_like(parameter.detach());
    options_.foreach = options_.foreach || !parameter.is_cpu();
    slots_.push_back({std::move(parameter), velocity});
  }
}

void Sgd::step(double gradient_scale) {
  const torch::NoGradGuard no_gradient;
  if (options_.foreach)
    return step_with_foreach(gradient_scale);
  for (const Slot& slot : slots_)
    if (slot.parameter.grad().defined())
      step_in_one_pass(slot, static_cast<float>(gradient_scale));
}

void Sgd::step_in_one_pass(const Slot& slot, float gradient_scale) const {
  const torch::Tensor gradient = aligned_gradient(slot.parameter);
  const auto learning_rate = static_cast<float>(options_.learning_rate);
  const auto momentum = static_cast<float>(options_.momentum);
  const auto weight_decay = static_cast<float>(options_.weight_decay);
  float* const w = slot.parameter.data_ptr<float>();
  float* const v = slot.velocity.data_ptr<float>();
  const float* const g = gradient.data_ptr<float>();
  at::parallel_for(0, slot.parameter.numel(), elements_per_thread,
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

// On a GPU launches cost more than passes: each call below is a few kernels for all parameters.
void Sgd::step_with_foreach(double gradient_scale) {
  std::vector<torch::Tensor> parameters;
  std::vector<torch::Tensor> velocities;
  std::vector<torch::Tensor> gradients;
  for (const Slot& slot : slots_)
    if (slot.parameter.grad().defined()) {
      parameters.push_back(slot.parameter);
      velocities.push_back(slot.velocity);
      gradients.push_back(slot.parameter.grad());
    }
  if (parameters.empty())
    return;
  at::_foreach_mul_(velocities, options_.momentum);
  at::_foreach_add_(velocities, gradients, gradient_scale);
  at::_foreach_add_(velocities, parameters, options_.weight_decay);
  at::_foreach_add_(parameters, velocities, -options_.learning_rate);
}

void Sgd::release_gradients() {
  for (Slot& slot : slots_)
    slot.parameter.mutable_grad().reset();
}

}  // namespace bench::steps
