#include "gpt/training.hpp"

#include "harness/interruption.hpp"
#include "harness/random_state.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

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

ModelOptions model_options(const Options& options, const torch::Device& device, Grid& grid) {
  return {.attention = parse_attention(options.attention, options.attention_dropout),
          .attention_dropout = options.attention_dropout,
          .hidden_dropout = options.hidden_dropout,
          .gelu_by_tanh = options.gelu == "tanh",
          .recompute = options.recompute == "full",
          .tensors = torch::TensorOptions(device).dtype(scalar_type(options.common.precision())),
          .seed = options.common.seed,
          .part = {.tensor = grid.tensor(), .stage = grid.stage(), .stages = grid.stages()}};
}

/// Of what goes from stage to stage.
std::vector<std::int64_t> shape_between_stages(const Options& options) {
  const Architecture& a = options.architecture;
  return {options.micro_batch, a.sequence / options.layout.tensor, a.hidden};
}

/// The parameters that another rank has as well, and counts.
std::vector<torch::Tensor> copies(const Gpt& model, Grid& grid) {
  std::vector<torch::Tensor> result;
  if (grid.tensor().rank() > 0)
    result = model->whole_parameters();
  if (grid.is_last_stage() && !grid.is_first_stage())
    result.push_back(model->embedding());
  return result;
}

}  // namespace

Training::Training(const Options& options, const torch::Device& device,
                   steps::Communicator& communicator)
    : options_(options),
      device_(device),
      grid_(communicator, options.layout),
      data_(make_token_source(options)),
      model_(options.architecture, model_options(options, device, grid_)),
      pipeline_(grid_, shape_between_stages(options),
                torch::TensorOptions(device).dtype(scalar_type(options.common.precision()))),
      parameters_(model_->parameters(), grid_.data().size(), copies(model_, grid_)),
      optimizer_(parameters_, grid_.data(), communicator, options.adamw,
                 options.distributed_optimizer) {
  grid_.data().broadcast(parameters_.values());
  // Weights are equal; what is dropped is not.
  torch::manual_seed(options.common.seed + static_cast<std::uint64_t>(communicator.rank()));
  if (options.common.precision() == steps::Precision::fp16)
    loss_scale_.emplace(options.loss_scale);
}

Iteration Training::iterate(steps::Timers& timers) {
  const torch::Tensor own_loss = forward_backward(timers);
  const torch::Tensor sums =  // of the losses, and of the ranks that are to end
      torch::stack({own_loss, torch::full_like(own_loss, steps::is_interrupted() ? 1 : 0)});
  timers.timed(Region::comm, [&] {
    complete_gradients();
    optimizer_.reduce_gradients();
    grid_.all().all_reduce(sums).wait();
    // The ranks of a last stage have the mean over their samples, all others nothing.
    sums.select(0, 0).div_(options_.layout.data * options_.layout.tensor);
  });
  consumed_samples_ += options_.global_batch;
  ++iterations_;
  return timers.timed(Region::optimizer, [&] {
    const torch::Tensor all = sums.to(torch::kCPU, torch::kDouble);
    Iteration iteration = update(all[0].item<double>());
    // One rank alone need not wait for the next iteration to know of a signal.
    iteration.interrupted =
        grid_.all().size() == 1 ? steps::is_interrupted() : all[1].item<double>() > 0;
    return iteration;
  });
}

bool Training::any_rank(bool holds) {
  if (grid_.all().size() == 1)
    return holds;
  const torch::Tensor sum = torch::full({}, holds ? 1.0F : 0.0F, torch::TensorOptions(device_));
  grid_.all().all_reduce(sum).wait();
  return sum.item<float>() > 0;
}

/// Of this copy of the model in the next iteration.
std::int64_t Training::first_sample() const {
  return consumed_samples_ + grid_.data_rank() * options_.micro_batches() * options_.micro_batch;
}

double Training::scale_of_loss() const {
  return (loss_scale_ ? loss_scale_->scale() : 1.0) / static_cast<double>(options_.micro_batches());
}

/// Leaves the sums of this rank's gradients, times the loss scale, in `parameters_`.
/// @returns the mean loss of this copy of the model in the last stage, 0 in others
torch::Tensor Training::forward_backward(steps::Timers& timers) {
  torch::Tensor losses = torch::zeros({}, torch::TensorOptions(device_));
  parameters_.begin_step();
  pipeline_.run(options_.micro_batches(),
                {.forward =
                     [&](std::int64_t micro_batch, const torch::Tensor& input) {
                       return forward(micro_batch, input, losses, timers);
                     },
                 .backward =
                     [&](const torch::Tensor& output, const torch::Tensor& gradient) {
                       timers.timed(Region::backward, [&] {
                         output.backward(gradient);
                         parameters_.take_gradients();
                       });
                     }},
                timers);
  return losses / static_cast<double>(options_.micro_batches());
}

/// @param losses gains the loss of the micro-batch in the last stage
/// @returns what goes to the next stage; in the last one the scaled loss
torch::Tensor Training::forward(std::int64_t micro_batch, const torch::Tensor& input,
                                torch::Tensor& losses, steps::Timers& timers) {
  torch::Tensor tokens;  // the first stage sees them, the last one predicts them
  if (grid_.is_first_stage() || grid_.is_last_stage())
    tokens = timers.timed(Region::io, [&] {
      return data_->samples(first_sample() + micro_batch * options_.micro_batch,
                            options_.micro_batch, device_);
    });
  return timers.timed(Region::forward, [&] {
    const torch::Tensor output = model_->forward(
        grid_.is_first_stage() ? tokens.narrow(1, 0, options_.architecture.sequence) : input);
    if (!grid_.is_last_stage())
      return output;
    const torch::Tensor loss = next_token_loss(output, tokens, grid_.tensor());
    losses += loss.detach();
    return loss * scale_of_loss();
  });
}

/// Adds what the other ranks that share this copy of the model have for the same parameters.
void Training::complete_gradients() {
  if (grid_.tensor().size() > 1) {
    std::vector<torch::Tensor> sums;
    for (const torch::Tensor& parameter : model_->whole_parameters())
      sums.push_back(parameters_.gradient_of(parameter).flatten());
    const torch::Tensor packed = torch::cat(sums);
    grid_.tensor().all_reduce(packed).wait();
    std::int64_t begin = 0;
    for (const torch::Tensor& sum : sums) {
      sum.copy_(packed.narrow(0, begin, sum.numel()));
      begin += sum.numel();
    }
  }
  if (model_->embedding().defined())
    grid_.ends().all_reduce(parameters_.gradient_of(model_->embedding())).wait();
}

Iteration Training::update(double loss) {
  const double learning_rate = options_.schedule().rate(static_cast<double>(scheduled_samples_));
  Iteration result{.loss = loss,
                   .learning_rate = learning_rate,
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
  optimizer_.step(learning_rate, clip / result.loss_scale);
  scheduled_samples_ += options_.global_batch;
  result.learning_rate = options_.schedule().rate(static_cast<double>(scheduled_samples_));
  return result;
}

int Training::weights_rank() const {
  const auto neighbours = static_cast<int>(options_.layout.tensor);
  return grid_.all_rank() - (optimizer_.is_sharded() ? 0 : grid_.data_rank() * neighbours);
}

steps::SavedState Training::state() const {
  steps::SavedState state;
  state.set_number("iterations", static_cast<double>(iterations_));
  state.set_number("consumed_samples", static_cast<double>(consumed_samples_));
  state.set_number("scheduled_samples", static_cast<double>(scheduled_samples_));
  state.set("random_state", steps::random_state(device_));
  optimizer_.save(state);
  if (loss_scale_)
    loss_scale_->save(state);
  return state;
}

void Training::restore(const steps::SavedState& own, const steps::SavedState& weights) {
  iterations_ = static_cast<std::int64_t>(own.number("iterations"));
  consumed_samples_ = static_cast<std::int64_t>(own.number("consumed_samples"));
  // Older checkpoints do not tell them apart.
  scheduled_samples_ = own.has("scheduled_samples")
                           ? static_cast<std::int64_t>(own.number("scheduled_samples"))
                           : consumed_samples_;
  optimizer_.load(weights);
  if (loss_scale_)
    loss_scale_->load(own);
  steps::set_random_state(device_, own.tensor("random_state"));
}

}  // namespace bench::gpt
