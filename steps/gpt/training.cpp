#include "gpt/training.hpp"

#include <algorithm>
#include <cmath>

namespace bench::gpt {
namespace {

using steps::Region;

torch::ScalarType scalar_type(steps::Precision precision) {
  switch (precision) {
    case steps::Precision::fp32:
    case steps::Precision::tf32:
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

}  // namespace

Training::Training(const Options& options, const torch::Device& device,
                   steps::Communicator& communicator)
    : options_(options),
      device_(device),
      communicator_(communicator),
      data_(make_token_source(options)),
      model_(options.architecture, model_options(options, device)),
      parameters_(model_->parameters(), communicator.size()),
      optimizer_(parameters_, communicator, options.adamw, options.distributed_optimizer) {
  communicator_.broadcast(parameters_.values());
  // Weights are equal; what is dropped is not.
  torch::manual_seed(options.common.seed + static_cast<std::uint64_t>(communicator.rank()));
  if (options.common.precision() == steps::Precision::fp16)
    loss_scale_.emplace(options.loss_scale);
}

Iteration Training::iterate(steps::Timers& timers) {
  const torch::Tensor loss = forward_backward(timers);
  timers.timed(Region::comm, [&] {
    optimizer_.reduce_gradients();
    communicator_.all_reduce(loss).wait();
    loss.div_(communicator_.size());
  });
  consumed_samples_ += options_.global_batch;
  return timers.timed(Region::optimizer, [&] { return update(loss.item<double>()); });
}

bool Training::any_rank(bool holds) {
  if (communicator_.size() == 1)
    return holds;
  const torch::Tensor sum = torch::full({}, holds ? 1.0F : 0.0F, torch::TensorOptions(device_));
  communicator_.all_reduce(sum).wait();
  return sum.item<float>() > 0;
}

/// Of this rank in the next iteration.
std::int64_t Training::first_sample() const {
  return consumed_samples_ + communicator_.rank() * options_.micro_batches() * options_.micro_batch;
}

/// Leaves the sums of the gradients, times the loss scale, in `parameters_`.
/// @returns the mean loss of this rank
torch::Tensor Training::forward_backward(steps::Timers& timers) {
  const auto micro_batches = static_cast<double>(options_.micro_batches());
  const double scale = (loss_scale_ ? loss_scale_->scale() : 1.0) / micro_batches;
  torch::Tensor sum = torch::zeros({}, torch::TensorOptions(device_));
  parameters_.begin_step();
  for (std::int64_t i = 0; i < options_.micro_batches(); ++i) {
    const torch::Tensor tokens = timers.timed(Region::io, [&] {
      return data_->samples(first_sample() + i * options_.micro_batch, options_.micro_batch,
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
  result.gradient_norm = optimizer_.gradient_norm() / result.loss_scale;
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
  return result;
}

}  // namespace bench::gpt
