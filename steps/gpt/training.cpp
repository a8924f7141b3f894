#include "gpt/training.hpp"

#include <algorithm>
#include <cmath>

namespace bench::gpt {
namespace {

using steps::Region;

torch::ScalarType scalar_type(steps::Precision precision) {
  switch (precision) {
    case steps::Precision::fp32:
      return torch::kFloat;
    case steps::Precision::bf16:
      return torch::kBFloat16;
    case steps::Precision::fp16:
      return torch::kHalf;
  }
  throw std::logic_error("unknown precision");
}

ModelOptions model_options(const Options& options, const torch::Device& device) {
  return {.attention = parse_attention(options.attention, options.attention_dropout),
          .attention_dropout = options.attention_dropout,
          .hidden_dropout = options.hidden_dropout,
          .recompute = options.recompute == "full",
          .tensors = torch::TensorOptions(device).dtype(scalar_type(options.common.precision()))};
}

/// Small enough that CPU threads and GPU kernels add up the squares without overflow: fp32.
double norm_of(const torch::Tensor& row) {
  return row.norm().item<double>();
}

}  // namespace

Training::Training(const Options& options, const torch::Device& device)
    : options_(options),
      device_(device),
      data_(make_token_source(options)),
      model_(options.architecture, model_options(options, device)),
      parameters_(model_->parameters()),
      optimizer_(parameters_.weights(), parameters_.gradients(), parameters_.decaying(),
                 options.adamw) {
  if (options.common.precision() == steps::Precision::fp16)
    loss_scale_.emplace(options.loss_scale);
}

Iteration Training::iterate(steps::Timers& timers) {
  const torch::Tensor loss = forward_backward(timers);
  consumed_samples_ += options_.global_batch;
  return timers.timed(Region::optimizer, [&] { return update(loss.item<double>()); });
}

/// Leaves the sums of the gradients, times the loss scale, in `parameters_`.
/// @returns the mean loss
torch::Tensor Training::forward_backward(steps::Timers& timers) {
  const auto micro_batches = static_cast<double>(options_.micro_batches());
  const double scale = (loss_scale_ ? loss_scale_->scale() : 1.0) / micro_batches;
  torch::Tensor sum = torch::zeros({}, torch::TensorOptions(device_));
  parameters_.begin_step();
  for (std::int64_t i = 0; i < options_.micro_batches(); ++i) {
    const torch::Tensor tokens = timers.timed(Region::io, [&] {
      return data_->samples(consumed_samples_ + i * options_.micro_batch, options_.micro_batch,
                            device_);
    });
    const torch::Tensor loss = timers.timed(Region::forward, [&] {
      const torch::Tensor scores =
          model_->forward(tokens.narrow(1, 0, options_.architecture.sequence));
      return next_token_loss(scores, tokens);
    });
    timers.timed(Region::backward, [&] {
      (loss * scale).backward();
      parameters_.take_gradients();
    });
    sum += loss.detach();
  }
  return sum / micro_batches;
}

Iteration Training::update(double loss) {
  Iteration result{.loss = loss,
                   .learning_rate = options_.schedule.learning_rate(consumed_samples_),
                   .loss_scale = loss_scale_ ? loss_scale_->scale() : 1.0};
  result.gradient_norm = norm_of(parameters_.gradients()) / result.loss_scale;
  const bool finite = std::isfinite(result.gradient_norm);
  result.skipped = !finite;
  const bool may_go_on = loss_scale_ ? loss_scale_->update(finite) : finite;
  result.diverged = !may_go_on || !std::isfinite(loss);
  if (!finite)
    return result;
  const double clip = options_.clip_gradient > 0
                          ? std::min(1.0, options_.clip_gradient / (result.gradient_norm + 1e-6))
                          : 1.0;
  optimizer_.step(result.learning_rate, clip / result.loss_scale);
  parameters_.publish();
  return result;
}

}  // namespace bench::gpt
