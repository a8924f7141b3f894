// One rank of what sharded_model_test.cpp checks: `sharded_model_program OPTIONS`, started as often
// as there are ranks. Each rank computes the loss and the gradients of a whole Llama, and those of
// its shard together with the others. It fails where they differ.

#include "harness/communicator.hpp"
#include "harness/log.hpp"
#include "harness/program.hpp"
#include "harness/timers.hpp"
#include "llama/network.hpp"
#include "llama/options.hpp"
#include "transformer/grid.hpp"
#include "transformer/parallel_training.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::sharded_model_program {
namespace {

using transformer::Grid;

constexpr std::int64_t micro_batches = 3;

struct Options {
  transformer::Layout layout;
  llama::Architecture architecture{.name = "tiny",
                                   .layers = 4,
                                   .hidden = 32,
                                   .heads = 8,
                                   .key_value_heads = 4,
                                   .mlp = 48,
                                   .sequence = 16,
                                   .vocabulary = 96};
  llama::ModelOptions model;
};

torch::Tensor random_tokens(const llama::Architecture& a) {
  torch::manual_seed(5);
  return torch::randint(a.vocabulary, {micro_batches, 2, a.sequence + 1}, torch::kLong);
}

/// With a balance loss whose gradients count as much as others.
torch::Tensor loss_of(const llama::Llama& model, const torch::Tensor& scores,
                      const torch::Tensor& samples, const steps::Communicator& group = {}) {
  llama::Options options;
  options.balance_weight = 1;
  return llama::training_loss(model, options, scores, samples, group);
}

torch::Tensor inputs(const torch::Tensor& tokens) {
  return tokens.narrow(1, 0, tokens.size(1) - 1);
}

/// Leaves the gradients in the parameters.
/// @returns the mean loss of the micro-batches
double whole_loss(llama::Llama& model, const torch::Tensor& tokens) {
  torch::Tensor sum = torch::zeros({});
  for (const torch::Tensor& samples : tokens.unbind(0)) {
    const torch::Tensor loss = loss_of(model, model->forward(inputs(samples)), samples);
    loss.backward();
    sum += loss.detach();
  }
  return sum.item<double>() / micro_batches;
}

/// Adds the gradients that other ranks have for the same parameters.
void complete_gradients(llama::Llama& model, Grid& grid) {
  for (const torch::Tensor& parameter : model->whole_parameters())
    grid.tensor().all_reduce(parameter.grad()).wait();
  if (model->tied_embedding().defined())
    grid.ends().all_reduce(model->tied_embedding().grad()).wait();
}

/// As `whole_loss`, of the shard; the loss is 0 in all stages but the last.
double sharded_loss(llama::Llama& model, const torch::Tensor& tokens, Grid& grid,
                    const Options& options) {
  const llama::Architecture& a = options.architecture;
  transformer::Pipeline pipeline(grid, {2, a.sequence / options.layout.tensor, a.hidden},
                                 options.model.tensors);
  steps::Timers timers(steps::make_clock(torch::kCPU));
  torch::Tensor sum = torch::zeros({});
  std::int64_t micro_batch = 0;
  pipeline.run(micro_batches,
               {.forward =
                    [&](const torch::Tensor& input) {
                      const torch::Tensor samples = tokens[micro_batch++];
                      const torch::Tensor output =
                          model->forward(grid.is_first_stage() ? inputs(samples) : input);
                      if (!grid.is_last_stage())
                        return output;
                      const torch::Tensor loss = loss_of(model, output, samples, grid.tensor());
                      sum += loss.detach();
                      return loss;
                    },
                .backward = [](const torch::Tensor& output,
                               const torch::Tensor& gradient) { output.backward(gradient); }},
               timers);
  complete_gradients(model, grid);
  return sum.item<double>() / micro_batches;
}

/// The slice of a whole gradient that belongs to a rank's parameter. What is stacked is split
/// matrix by matrix, and an expert not at all.
torch::Tensor slice_of(const std::string& name, const torch::Tensor& whole,
                       const torch::Tensor& own, const steps::Communicator& group) {
  if (whole.sizes() == own.sizes())
    return whole;
  const auto rank = static_cast<std::size_t>(group.rank());
  if (name.find("gate_up") != std::string::npos)
    return whole.view({2, -1, whole.size(1)}).chunk(group.size(), 1)[rank].flatten(0, 1);
  for (std::int64_t dimension = 0; dimension < whole.dim(); ++dimension)
    if (whole.size(dimension) != own.size(dimension))
      return whole.chunk(group.size(), dimension)[rank];
  return whole;
}

/// Largest difference between the gradients of shard and whole, relative to the largest gradient of
/// the same parameter.
double largest_difference(const llama::Llama& shard, const llama::Llama& whole,
                          const steps::Communicator& group) {
  const auto all = whole->named_parameters();
  double largest = 0;
  for (const auto& own : shard->named_parameters()) {
    const torch::Tensor expected = slice_of(own.key(), all[own.key()].grad(), own.value(), group);
    if (expected.sizes() != own.value().sizes())
      throw std::runtime_error(fmt::format("{} has another shape", own.key()));
    const torch::Tensor difference = (own.value().grad() - expected).abs().max();
    largest = std::max(largest, (difference / expected.abs().max()).item<double>());
  }
  return largest;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("a rank of the tests", "sharded_model_program");
  app.add_option("--tensor-parallel", options.layout.tensor);
  app.add_option("--pipeline-parallel", options.layout.pipeline);
  app.add_flag("--tied", options.architecture.tied_embedding);
  app.add_flag("--recompute", options.model.recompute);
  app.add_option("--experts", options.architecture.experts);
  app.parse(argc, argv);
  options.architecture.experts_per_token = std::min<std::int64_t>(options.architecture.experts, 2);
  at::set_num_threads(1);

  steps::Communicator communicator(steps::find_ranks(), torch::kCPU);
  Grid grid(communicator, options.layout);
  const torch::Tensor tokens = random_tokens(options.architecture);
  llama::Llama whole(options.architecture, options.model);
  llama::ModelOptions own = options.model;
  own.shard = transformer::shard_of(grid);
  llama::Llama shard(options.architecture, own);
  steps::log_value("whole_loss", whole_loss(whole, tokens));
  steps::log_value("is_last_stage", grid.is_last_stage());
  steps::log_value("loss", sharded_loss(shard, tokens, grid, options));
  steps::log_value("gradient_difference", largest_difference(shard, whole, grid.tensor()));
  return steps::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv);
}

}  // namespace bench::sharded_model_program
