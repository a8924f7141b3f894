#include "gpt/trainer.hpp"

#include "harness/adamw.hpp"
#include "transformer/parallel_training.hpp"

#include <memory>
#include <utility>

namespace bench::gpt {
torch::TensorOptions model_tensors(const Options& options, const torch::Device& device) {
  return torch::TensorOptions(device).dtype(
      transformer::parameter_type(options.common.precision()));
}

ModelOptions model_options(const Options& options, const torch::Device& device,
                           transformer::Grid& grid) {
  return {.attention = transformer::parse_attention(options.attention, options.attention_dropout),
          .attention_dropout = options.attention_dropout,
          .hidden_dropout = options.hidden_dropout,
          .gelu_by_tanh = options.gelu == "tanh",
          .recompute = options.recompute == "full",
          .tensors = model_tensors(options, device),
          .seed = options.common.seed,
          .shard = {.tensor = grid.tensor(), .stage = grid.stage(), .stages = grid.stages()}};
}

steps::TrainerOptions trainer_options(const Options& options, const Gpt& model,
                                      transformer::Grid& grid) {
  return {.optimizer =
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
          .parallelism = transformer::model_parallelism(model.ptr(), grid, options.layout)};
}

std::vector<std::int64_t> shape_between_stages(const Options& options) {
  const Architecture& a = options.architecture;
  return {options.micro_batch, a.sequence / options.layout.tensor, a.hidden};
}

}  // namespace bench::gpt
