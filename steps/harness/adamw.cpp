#include "harness/adamw.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace bench::steps {
namespace {

// Below this a second thread costs more than it brings.
constexpr std::int64_t weights_per_thread = 1 << 15;
// What temporaries are made for at a time: 256 MiB each, where the weights may be several GB.
constexpr std::int64_t weights_per_pass = 1 << 26;

}  // namespace

/// Of one step, in the form in which the loop needs them.
struct AdamW::Factors {
  double gradient;
  double decay;  ///< What the weights that decay are multiplied by.
  double step;   ///< learning_rate / (1 - beta1^t)
  double root;   ///< 1 / sqrt(1 - beta2^t)
};

AdamW::AdamW(torch::Tensor weights, torch::Tensor gradients, std::int64_t decaying,
             const Options& options)
    : weights_(std::move(weights)),
      gradients_(std::move(gradients)),
      mean_(torch::zeros_like(weights_)),
      variance_(torch::zeros_like(weights_)),
      decaying_(decaying),
      options_(options) {
  for (const torch::Tensor* row : {&weights_, &gradients_})
    if (row->scalar_type() != torch::kFloat || !row->is_contiguous() || row->dim() != 1 ||
        row->numel() != weights_.numel())
      throw std::invalid_argument("AdamW takes two equal rows of fp32");
}

void AdamW::step(double learning_rate, double gradient_scale) {
  const torch::NoGradGuard no_gradient;
  const auto t = static_cast<double>(++steps_);
  const Factors factors{.gradient = gradient_scale,
                        .decay = 1 - learning_rate * options_.weight_decay,
                        .step = learning_rate / (1 - std::pow(options_.beta1, t)),
                        .root = 1 / std::sqrt(1 - std::pow(options_.beta2, t))};
  if (weights_.is_cpu() && !options_.kernels)
    step_in_one_pass(factors);
  else
    step_with_kernels(factors);
}

void AdamW::step_in_one_pass(const Factors& factors) {
  const auto beta1 = static_cast<float>(options_.beta1);
  const auto beta2 = static_cast<float>(options_.beta2);
  const auto epsilon = static_cast<float>(options_.epsilon);
  const auto gradient_scale = static_cast<float>(factors.gradient);
  const auto rate = static_cast<float>(factors.step);
  const auto root = static_cast<float>(factors.root);
  float* const w = weights_.data_ptr<float>();
  float* const m = mean_.data_ptr<float>();
  float* const v = variance_.data_ptr<float>();
  const float* const gradients = gradients_.data_ptr<float>();
  const auto pass = [=](std::int64_t begin, std::int64_t end, float decay) {
// The compiler alone would not see that the four arrays lie apart.
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) {
      const float g = gradients[i] * gradient_scale;
      m[i] = beta1 * m[i] + (1 - beta1) * g;
      v[i] = beta2 * v[i] + (1 - beta2) * g * g;
      w[i] = w[i] * decay - rate * m[i] / (std::sqrt(v[i]) * root + epsilon);
    }
  };
  const auto decay = static_cast<float>(factors.decay);
  const std::int64_t decaying = decaying_;
  at::parallel_for(0, weights_.numel(), weights_per_thread,
                   [=](std::int64_t begin, std::int64_t end) {
                     const std::int64_t middle = std::clamp(decaying, begin, end);
                     pass(begin, middle, decay);
                     pass(middle, end, 1.0F);
                   });
}

void AdamW::step_with_kernels(const Factors& factors) {
  weights_.narrow(0, 0, decaying_).mul_(factors.decay);
  for (std::int64_t begin = 0; begin < weights_.numel(); begin += weights_per_pass) {
    const std::int64_t length = std::min(weights_per_pass, weights_.numel() - begin);
    const auto part = [&](const torch::Tensor& row) { return row.narrow(0, begin, length); };
    const torch::Tensor g = part(gradients_) * factors.gradient;
    const torch::Tensor m = part(mean_);
    const torch::Tensor v = part(variance_);
    m.mul_(options_.beta1).add_(g, 1 - options_.beta1);
    v.mul_(options_.beta2).addcmul_(g, g, 1 - options_.beta2);
    const torch::Tensor root = v.sqrt().mul_(factors.root).add_(options_.epsilon);
    part(weights_).addcdiv_(m, root, -factors.step);
  }
}

void AdamW::save(SavedState& state) const {
  state.set("adamw_mean", mean_);
  state.set("adamw_variance", variance_);
  state.set_number("adamw_steps", static_cast<double>(steps_));
}

void AdamW::load(const SavedState& state) {
  state.copy_to("adamw_mean", mean_);
  state.copy_to("adamw_variance", variance_);
  steps_ = static_cast<std::int64_t>(state.number("adamw_steps"));
}

}  // namespace bench::steps
