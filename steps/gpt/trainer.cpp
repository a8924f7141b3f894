#include "gpt/trainer.hpp"

#include "harness/adamw.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

namespace bench::gpt {
namespace {

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

/// The parameters that another rank has as well, and counts.
std::vector<torch::Tensor> copies(const Gpt& model, Grid& grid) {
  std::vector<torch::Tensor> result;
  if (grid.tensor().rank() > 0)
    result = model->whole_parameters();
  if (grid.is_last_stage() && !grid.is_first_stage())
    result.push_back(model->embedding());
  return result;
}

/// Sums, over the ranks that share this copy of the model, the gradients of what several of them
/// have.
void complete_gradients(const steps::FlatParameters& parameters, const Gpt& model, Grid& grid) {
  if (grid.tensor().size() > 1) {
    std::vector<torch::Tensor> sums;
    for (const torch::Tensor& parameter : model->whole_parameters())
      sums.push_back(parameters.gradient_of(parameter).flatten());
    const torch::Tensor packed = torch::cat(sums);
    grid.tensor().all_reduce(packed).wait();
    std::int64_t begin = 0;
    for (const torch::Tensor& sum : sums) {
      sum.copy_(packed.narrow(0, begin, sum.numel()));
      begin += sum.numel();
    }
  }
  if (model->embedding().defined())
    grid.ends().all_reduce(parameters.gradient_of(model->embedding())).wait();
}

}  // namespace

torch::TensorOptions model_tensors(const Options& options, const torch::Device& device) {
  return torch::TensorOptions(device).dtype(scalar_type(options.common.precision()));
}

ModelOptions model_options(const Options& options, const torch::Device& device, Grid& grid) {
  return {.attention = parse_attention(options.attention, options.attention_dropout),
          .attention_dropout = options.attention_dropout,
          .hidden_dropout = options.hidden_dropout,
          .gelu_by_tanh = options.gelu == "tanh",
          .recompute = options.recompute == "full",
          .tensors = model_tensors(options, device),
          .seed = options.common.seed,
          .part = {.tensor = grid.tensor(), .stage = grid.stage(), .stages = grid.stages()}};
}

steps::TrainerOptions trainer_options(const Options& options, const Gpt& model, Grid& grid) {
  steps::TrainerOptions result{
      .optimizer =
          [adamw = options.adamw](steps::OptimizerRows rows) {
            return std::make_unique<steps::AdamW>(std::move(rows), adamw);
          },
      .learning_rate = [schedule = options.schedule](
                           std::int64_t samples) { return schedule.learning_rate(samples); },
      .global_batch = options.global_batch,
      .micro_batches = options.micro_batches(),
      .clip_gradient = options.clip_gradient,
      .report_gradient_norm = true,
      .shard_optimizer = options.distributed_optimizer,
      .dynamic_loss_scale = options.loss_scale,
      .parallelism = {.data = &grid.data(),
                      .copies = copies(model, grid),
                      .ranks_with_loss =
                          static_cast<int>(options.layout.data * options.layout.tensor)}};
  // With whole copies of the model nothing is to be completed, and sums may start at once.
  if (options.layout.devices_per_model() > 1)
    result.parallelism.complete_gradients = [model,
                                             &grid](const steps::FlatParameters& parameters) {
      complete_gradients(parameters, model, grid);
    };
  return result;
}

std::vector<std::int64_t> shape_between_stages(const Options& options) {
  const Architecture& a = options.architecture;
  return {options.micro_batch, a.sequence / options.layout.tensor, a.hidden};
}

}  // namespace bench::gpt
