#include "harness/optimizer.hpp"

#include "harness/saved_state.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench::steps {
namespace {

/// @throws std::invalid_argument if weights and gradients are not two equal rows of fp32
void check_rows(const OptimizerRows& rows) {
  for (const torch::Tensor& row : {rows.weights, rows.gradients})
    if (row.scalar_type() != torch::kFloat || !row.is_contiguous() || row.dim() != 1 ||
        row.numel() != rows.weights.numel())
      throw std::invalid_argument("an optimizer takes two equal rows of fp32");
}

/// See `make_sgd`.
class Sgd : public Optimizer {
 public:
  Sgd(OptimizerRows rows, const SgdOptions& options)
      : rows_(std::move(rows)), velocity_(torch::zeros_like(rows_.weights)), options_(options) {
    check_rows(rows_);
  }

  void step(double learning_rate, double gradient_scale) override {
    const torch::NoGradGuard no_gradient;
#if !BENCH_TORCH_AT_LEAST(2, 4)
    if (rows_.weights.is_cpu())
      return step_in_one_pass(static_cast<float>(learning_rate),
                              static_cast<float>(gradient_scale));
#endif
    step_with_kernels(learning_rate, gradient_scale);
  }

  void save(SavedState& state) const override {
    state.set("sgd_velocity", velocity_);
  }
  void load(const SavedState& state) override {
    state.copy_to("sgd_velocity", velocity_);
  }

 private:
#if BENCH_TORCH_AT_LEAST(2, 4)

  // One kernel. It divides by the scale, leaves scaled gradients behind, and wants no velocity
  // where there is no momentum.
  void step_with_kernels(double learning_rate, double gradient_scale) {
    std::vector<torch::Tensor> velocity;
    if (options_.momentum > 0)
      velocity.push_back(velocity_);
    at::_fused_sgd_(std::vector{rows_.weights}, std::vector{rows_.gradients}, velocity,
                    options_.weight_decay, options_.momentum, learning_rate, /*dampening=*/0,
                    /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/false,
                    torch::full({}, 1 / gradient_scale, rows_.gradients.options()));
  }

#else

  void step_in_one_pass(float learning_rate, float gradient_scale) const {
    // Below, another thread costs more than it brings.
    constexpr std::int64_t elements_per_thread = 1 << 15;
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

  void step_with_kernels(double learning_rate, double gradient_scale) {
    velocity_.mul_(options_.momentum)
        .add_(rows_.gradients, gradient_scale)
        .add_(rows_.weights, options_.weight_decay);
    rows_.weights.add_(velocity_, -learning_rate);
  }

#endif

  OptimizerRows rows_;
  torch::Tensor velocity_;  // v
  SgdOptions options_;
};

/// Of AdamW and LAMB.
struct Moments {
  explicit Moments(const torch::Tensor& weights)
      : mean(torch::zeros_like(weights)), variance(torch::zeros_like(weights)) {}

  /// @param optimizer begins the names
  void save(SavedState& state, const std::string& optimizer) const {
    state.set(optimizer + "_mean", mean);
    state.set(optimizer + "_variance", variance);
    state.set_number(optimizer + "_steps", static_cast<double>(steps));
  }
  void load(const SavedState& state, const std::string& optimizer) {
    state.copy_to(optimizer + "_mean", mean);
    state.copy_to(optimizer + "_variance", variance);
    steps = static_cast<std::int64_t>(state.number(optimizer + "_steps"));
  }

  torch::Tensor mean;      // m
  torch::Tensor variance;  // v
  std::int64_t steps = 0;  // t
};

/// See `make_adamw`.
class AdamW : public Optimizer {
 public:
  AdamW(OptimizerRows rows, const AdamWOptions& options)
      : rows_(std::move(rows)), moments_(rows_.weights), options_(options) {
    check_rows(rows_);
  }

  void step(double learning_rate, double gradient_scale) override {
    const torch::NoGradGuard no_gradient;
    const auto t = static_cast<double>(++moments_.steps);
    const Factors factors{.learning_rate = learning_rate,
                          .gradient = gradient_scale,
                          .decay = options_.l2 ? 1 : 1 - learning_rate * options_.weight_decay,
                          .penalty = options_.l2 ? options_.weight_decay : 0,
                          .step = learning_rate / (1 - std::pow(options_.beta1, t)),
                          .root = 1 / std::sqrt(1 - std::pow(options_.beta2, t))};
#if !BENCH_TORCH_AT_LEAST(2, 4)
    if (rows_.weights.is_cpu())
      return step_in_one_pass(factors);
#endif
    step_with_kernels(factors);
  }

  void save(SavedState& state) const override {
    moments_.save(state, "adamw");
  }
  void load(const SavedState& state) override {
    moments_.load(state, "adamw");
  }

 private:
  /// Of one step, in the form in which the loops need them.
  struct Factors {
    double learning_rate;
    double gradient;
    double decay;    ///< Factor of the weights that decay.
    double penalty;  ///< Of all weights.
    double step;     ///< learning_rate / (1 - beta1^t)
    double root;     ///< 1 / sqrt(1 - beta2^t)
  };

#if BENCH_TORCH_AT_LEAST(2, 4)

  // One kernel for the weights that decay and one for the others. It leaves scaled gradients
  // behind.
  void step_with_kernels(const Factors& factors) {
    const torch::Tensor scale =
        torch::full({}, 1 / factors.gradient, rows_.gradients.options());  // divides
    const auto update = [&](std::int64_t begin, std::int64_t end, double weight_decay) {
      if (begin == end)
        return;
      const auto part = [&](const torch::Tensor& row) {
        return std::vector{row.narrow(0, begin, end - begin)};
      };
      const std::vector steps{
          torch::full({}, static_cast<double>(moments_.steps), rows_.gradients.options())};
      if (options_.l2)
        at::_fused_adam_(part(rows_.weights), part(rows_.gradients), part(moments_.mean),
                         part(moments_.variance), {}, steps, factors.learning_rate, options_.beta1,
                         options_.beta2, weight_decay, options_.epsilon, /*amsgrad=*/false,
                         /*maximize=*/false, scale);
      else
        at::_fused_adamw_(part(rows_.weights), part(rows_.gradients), part(moments_.mean),
                          part(moments_.variance), {}, steps, factors.learning_rate, options_.beta1,
                          options_.beta2, weight_decay, options_.epsilon, /*amsgrad=*/false,
                          /*maximize=*/false, scale);
    };
    update(0, rows_.matrix_numbers, options_.weight_decay);
    update(rows_.matrix_numbers, rows_.weights.numel(), options_.l2 ? options_.weight_decay : 0);
  }

#else

  // LibTorch 1.13 has no fused optimizer: its AdamW takes 27 ms for 19 million weights on two
  // cores, this loop 5.2 ms. Where LibTorch 2.6 has one, that takes 13 ms of processor time, this
  // loop 20 ms.
  void step_in_one_pass(const Factors& factors) {
    // Below, another thread costs more than it brings.
    constexpr std::int64_t weights_per_thread = 1 << 15;
    const auto beta1 = static_cast<float>(options_.beta1);
    const auto beta2 = static_cast<float>(options_.beta2);
    const auto epsilon = static_cast<float>(options_.epsilon);
    const auto gradient_scale = static_cast<float>(factors.gradient);
    const auto penalty = static_cast<float>(factors.penalty);
    const auto rate = static_cast<float>(factors.step);
    const auto root = static_cast<float>(factors.root);
    float* const w = rows_.weights.data_ptr<float>();
    float* const m = moments_.mean.data_ptr<float>();
    float* const v = moments_.variance.data_ptr<float>();
    const float* const gradients = rows_.gradients.data_ptr<float>();
    const auto pass = [=](std::int64_t begin, std::int64_t end, float decay) {
    // The compiler alone would not see that the four arrays lie apart.
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) {
        const float g = gradients[i] * gradient_scale + penalty * w[i];
        m[i] = beta1 * m[i] + (1 - beta1) * g;
        v[i] = beta2 * v[i] + (1 - beta2) * g * g;
        w[i] = w[i] * decay - rate * m[i] / (std::sqrt(v[i]) * root + epsilon);
      }
    };
    const auto decay = static_cast<float>(factors.decay);
    const std::int64_t decaying = rows_.matrix_numbers;
    at::parallel_for(0, rows_.weights.numel(), weights_per_thread,
                     [=](std::int64_t begin, std::int64_t end) {
                       const std::int64_t middle = std::clamp(decaying, begin, end);
                       pass(begin, middle, decay);
                       pass(middle, end, 1.0F);
                     });
  }

  // Temporaries are of 256 MiB at most, where the weights may be several GB.
  void step_with_kernels(const Factors& factors) {
    constexpr std::int64_t weights_per_pass = 1 << 26;
    rows_.weights.narrow(0, 0, rows_.matrix_numbers).mul_(factors.decay);
    for (std::int64_t begin = 0; begin < rows_.weights.numel(); begin += weights_per_pass) {
      const std::int64_t length = std::min(weights_per_pass, rows_.weights.numel() - begin);
      const auto part = [&](const torch::Tensor& row) { return row.narrow(0, begin, length); };
      torch::Tensor g = part(rows_.gradients) * factors.gradient;
      if (options_.l2)
        g.add_(part(rows_.weights), factors.penalty);
      const torch::Tensor m = part(moments_.mean);
      const torch::Tensor v = part(moments_.variance);
      m.mul_(options_.beta1).add_(g, 1 - options_.beta1);
      v.mul_(options_.beta2).addcmul_(g, g, 1 - options_.beta2);
      const torch::Tensor root = v.sqrt().mul_(factors.root).add_(options_.epsilon);
      part(rows_.weights).addcdiv_(m, root, -factors.step);
    }
  }

#endif

  OptimizerRows rows_;
  Moments moments_;
  AdamWOptions options_;
};

/// See `make_lamb`.
class Lamb : public Optimizer {
 public:
  Lamb(OptimizerRows rows, const LambOptions& options)
      : rows_(std::move(rows)), moments_(rows_.weights), options_(options) {
    check_rows(rows_);
  }

  void step(double learning_rate, double gradient_scale) override {
    const torch::NoGradGuard no_gradient;
    ++moments_.steps;
    const torch::Tensor u = update(gradient_scale);
    const torch::Tensor ratios = trust_ratios(u);  // (parameters)
    for (std::size_t i = 0; i < rows_.parameters.size(); ++i) {
      const auto [begin, end] = rows_.parameters[i];
      if (begin < end)
        u.narrow(0, begin, end - begin).mul_(ratios[static_cast<std::int64_t>(i)]);
    }
    rows_.weights.add_(u, -learning_rate);
  }

  void save(SavedState& state) const override { moments_.save(state, "lamb"); }
  void load(const SavedState& state) override { moments_.load(state, "lamb"); }

 private:
  /// (N)
  torch::Tensor update(double gradient_scale) {
    const auto t = static_cast<double>(moments_.steps);
    const torch::Tensor g = rows_.gradients * gradient_scale;
    moments_.mean.mul_(options_.beta1).add_(g, 1 - options_.beta1);
    moments_.variance.mul_(options_.beta2).addcmul_(g, g, 1 - options_.beta2);
    const torch::Tensor root =
        (moments_.variance / (1 - std::pow(options_.beta2, t))).sqrt_().add_(options_.epsilon);
    torch::Tensor u = (moments_.mean / (1 - std::pow(options_.beta1, t))).div_(root);
    const auto decaying = [&](const torch::Tensor& row) {
      return row.narrow(0, 0, rows_.matrix_numbers);
    };
    decaying(u).add_(decaying(rows_.weights), options_.weight_decay);
    return u;
  }

  /// |w| / |u| of each parameter, (parameters).
  torch::Tensor trust_ratios(const torch::Tensor& update) const {
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

  OptimizerRows rows_;
  Moments moments_;
  LambOptions options_;
};

}  // namespace

MakeOptimizer make_sgd(const SgdOptions& options) {
  return [options](OptimizerRows rows) { return std::make_unique<Sgd>(std::move(rows), options); };
}

MakeOptimizer make_adamw(const AdamWOptions& options) {
  return
      [options](OptimizerRows rows) { return std::make_unique<AdamW>(std::move(rows), options); };
}

MakeOptimizer make_lamb(const LambOptions& options) {
  return [options](OptimizerRows rows) { return std::make_unique<Lamb>(std::move(rows), options); };
}

}  // namespace bench::steps
