#include "transformer/parallel_training.hpp"

#include "harness/batches.hpp"
#include "harness/communicator.hpp"
#include "harness/flat_parameters.hpp"
#include "harness/loop.hpp"
#include "harness/optimizer.hpp"
#include "harness/precision.hpp"
#include "harness/saved_state.hpp"
#include "harness/timers.hpp"
#include "harness/trainer.hpp"
#include "transformer/attention.hpp"
#include "transformer/grid.hpp"
#include "transformer/layers.hpp"
#include "transformer/training_options.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench::transformer {

Pipeline::Pipeline(Grid& grid, std::vector<std::int64_t> shape, const torch::TensorOptions& tensors)
    : grid_(grid), shape_(std::move(shape)), tensors_(tensors) {}

void Pipeline::run(std::int64_t micro_batches, const Passes& passes, steps::Timers& timers) {
  const std::int64_t following = grid_.stages() - 1 - grid_.stage();
  const std::int64_t ahead = std::min(following, micro_batches);
  const auto forward = [&] {
    in_flight_.push_back(pass_forward(passes.forward, /*needs_gradient=*/true, timers));
  };
  for (std::int64_t i = 0; i < ahead; ++i)
    forward();
  for (std::int64_t i = ahead; i < micro_batches; ++i) {
    forward();
    backward(passes, timers);
  }
  while (!in_flight_.empty())
    backward(passes, timers);
  for (; !sends_.empty(); sends_.pop_front())
    sends_.front().wait();
}

torch::Tensor Pipeline::run_forward(const Forward& forward, steps::Timers& timers) {
  const torch::NoGradGuard no_gradient;
  return pass_forward(forward, /*needs_gradient=*/false, timers).output;
}

Pipeline::InFlight Pipeline::pass_forward(const Forward& forward, bool needs_gradient,
                                          steps::Timers& timers) {
  torch::Tensor input;
  if (!grid_.is_first_stage())
    input =
        receive(grid_.to_next_stage(), grid_.stage() - 1, timers).requires_grad_(needs_gradient);
  const torch::Tensor output = forward(input);
  if (!grid_.is_last_stage())
    send(grid_.to_next_stage(), output, grid_.stage() + 1);
  return {input, output};
}

void Pipeline::backward(const Passes& passes, steps::Timers& timers) {
  const InFlight oldest = std::move(in_flight_.front());
  in_flight_.pop_front();
  torch::Tensor gradient;
  if (!grid_.is_last_stage())
    gradient = receive(grid_.to_previous_stage(), grid_.stage() + 1, timers);
  passes.backward(oldest.output, gradient);
  if (!grid_.is_first_stage())
    send(grid_.to_previous_stage(), oldest.input.grad(), grid_.stage() - 1);
}

torch::Tensor Pipeline::receive(steps::Communicator& channel, std::int64_t from,
                                steps::Timers& timers) {
  return timers.timed(steps::Region::comm, [&] {
    torch::Tensor result = torch::empty(shape_, tensors_);
    channel.receive(result, static_cast<int>(from)).wait();
    return result;
  });
}

/// Keeps the tensor until it has arrived. No neighbour is `2 * stages` messages behind, so waiting
/// for the oldest message takes no time and frees its memory.
void Pipeline::send(steps::Communicator& channel, const torch::Tensor& tensor, std::int64_t to) {
  for (; std::ssize(sends_) > 2 * grid_.stages(); sends_.pop_front())
    sends_.front().wait();
  sends_.push_back(channel.send(tensor.detach().contiguous(), static_cast<int>(to)));
}

namespace {

/// Parameters that another rank of this copy of the model holds as well, and counts.
std::vector<torch::Tensor> copies(const LanguageModel& model, Grid& grid) {
  std::vector<torch::Tensor> result;
  if (grid.tensor().rank() > 0)
    result = model.whole_parameters();
  if (model.tied_embedding().defined() && grid.is_last_stage() && !grid.is_first_stage())
    result.push_back(model.tied_embedding());
  return result;
}

/// How tensor-parallel ranks split the parameters of a model: linear layers by rows or by columns,
/// tables by the vocabulary. What a rank holds whole is left out, as each of its experts.
std::map<std::string, steps::Split> splits(const LanguageModel& model,
                                           const steps::Communicator& tensor) {
  const steps::Split by_rows{.part = tensor.rank(), .parts = tensor.size()};
  std::map<std::string, steps::Split> result;
  for (const auto& table : model.named_parameters(/*recurse=*/false))
    result[table.key()] = by_rows;
  for (const auto& module : model.named_modules("", /*include_self=*/false)) {
    if (module.value()->as<RowLinearImpl>())
      (result[module.key() + ".weight"] = by_rows).dimension = 1;
    if (const auto* column = module.value()->as<ColumnLinearImpl>())
      for (const auto& parameter : column->named_parameters())
        (result[module.key() + "." + parameter.key()] = by_rows).stacked = column->stacked();
  }
  for (const auto& module : model.named_modules("", /*include_self=*/false))
    if (module.value()->as<ExpertsImpl>())
      std::erase_if(result, [inside = module.key() + "."](const auto& split) {
        return split.first.starts_with(inside);
      });
  for (const torch::Tensor& whole : model.whole_parameters())
    for (const auto& parameter : model.named_parameters())
      if (parameter.value().is_same(whole))
        result.erase(parameter.key());
  return result;
}

/// Sums the gradients of parameters that several ranks of this copy hold, in one message.
void sum_whole_parameters(const steps::FlatParameters& parameters, const LanguageModel& model,
                          steps::Communicator& tensor) {
  std::vector<torch::Tensor> gradients;
  for (const torch::Tensor& parameter : model.whole_parameters())
    gradients.push_back(parameters.gradient_of(parameter).flatten());
  const torch::Tensor packed = torch::cat(gradients);
  tensor.all_reduce(packed).wait();
  std::int64_t begin = 0;
  for (const torch::Tensor& gradient : gradients) {
    gradient.copy_(packed.narrow(0, begin, gradient.numel()));
    begin += gradient.numel();
  }
}

/// How the ranks of a grid train copies of one model, for a `steps::Trainer`.
/// @param model this rank's shard
/// @param grid must outlive the trainer
steps::ModelParallelism model_parallelism(const std::shared_ptr<LanguageModel>& model, Grid& grid,
                                          const Layout& layout) {
  steps::ModelParallelism result{.data = &grid.data(),
                                 .copies = copies(*model, grid),
                                 .splits = splits(*model, grid.tensor()),
                                 .ranks_with_loss = static_cast<int>(layout.data * layout.tensor)};
  // Gradients of whole copies are complete, and their sums may start during the backward pass.
  if (layout.devices_per_model() > 1)
    result.complete_gradients = [model, &grid](const steps::FlatParameters& parameters) {
      if (grid.tensor().size() > 1)
        sum_whole_parameters(parameters, *model, grid.tensor());
      if (model->tied_embedding().defined())
        grid.ends().all_reduce(parameters.gradient_of(model->tied_embedding())).wait();
    };
  return result;
}

}  // namespace

torch::ScalarType parameter_type(steps::Precision precision) {
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

torch::TensorOptions model_tensors(const TrainingOptions& options, const torch::Device& device) {
  return torch::TensorOptions(device).dtype(parameter_type(options.common.precision()));
}

Shard shard_of(Grid& grid) {
  return {.tensor = grid.tensor(), .stage = grid.stage(), .stages = grid.stages()};
}

steps::TrainerOptions trainer_options(const TrainingOptions& options,
                                      const std::shared_ptr<LanguageModel>& model, Grid& grid) {
  return {.optimizer = steps::make_adamw(options.adamw),
          .learning_rate = steps::rate_of(options.schedule()),
          .global_batch = options.global_batch,
          .micro_batches = options.micro_batches(),
          .clip_gradient = options.clip_gradient,
          .report_gradient_norm = true,
          .shard_optimizer = options.distributed_optimizer,
          .dynamic_loss_scale = options.loss_scale,
          .parallelism = model_parallelism(model, grid, options.layout)};
}

}  // namespace bench::transformer
