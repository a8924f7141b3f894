// ap2: trains the classifier of tweets of MAELSTROM's application 2 and reports how fast. See
// README.md.

#include "ap2/data.hpp"
#include "ap2/network.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/optimizer.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/training.hpp"

#include <cstdint>

#include <CLI/CLI.hpp>

namespace bench::ap2 {
namespace {

// One epoch of MAELSTROM's runs, and 500 steps of 32 samples.
constexpr double epoch_samples = 148'000;
constexpr double warmup_samples = 500 * 32;

void add_size_options(CLI::App& app, Sizes& sizes) {
  const auto between = [](std::int64_t least, std::int64_t most) {
    return CLI::Range(least, most);
  };
  app.add_option("--seq", sizes.sequence, "Tokens of a sample, padding included")
      ->check(between(1, 1 << 14));
  app.add_option("--layers", sizes.layers, "Layers")->check(between(1, 1 << 10));
  app.add_option("--hidden", sizes.hidden, "Width")->check(between(1, 1 << 16));
  app.add_option("--heads", sizes.heads, "Attention heads")->check(between(1, 1 << 10));
  app.add_option("--vocab-size", sizes.vocabulary, "Tokens that are known")
      ->check(between(2, 1 << 24));
}

}  // namespace

int main(int argc, char** argv) {
  Sizes sizes;
  double dropout = 0.1;
  steps::SupervisedOptions training{.schedule = {.highest = 3e-5,
                                                 .warmup = warmup_samples,
                                                 .shape = steps::RateSchedule::Shape::polynomial,
                                                 .end = epoch_samples}};
  steps::Session session("ap2",
                         "Trains the classifier of tweets of MAELSTROM's AP2, reports its speed.");
  steps::add_batch_options(session.app(), session.arguments());
  add_size_options(session.app(), sizes);
  session.app()
      .add_option("--dropout", dropout, "Share of numbers set to 0 in training")
      ->check(steps::from_0_to_below_1());
  steps::add_supervised_options(session.app(), training);
  if (!session.parse(argc, argv))
    return steps::exit_ok;
  steps::check_schedule_options(session.app(), training.schedule);
  check_sizes(sizes);
  const steps::Cost network_cost = cost(sizes, steps::micro_batch_size(session.arguments()));
  if (!steps::begin_or_describe(session, network_cost))
    return steps::exit_ok;
  Deberta model(sizes, dropout);
  model->to(session.device());
  return steps::train_supervised(
      session, *model, network_cost, training,
      {.format = sample_format(sizes),
       .loss_of =
           [&](const steps::Batch& batch) {
             const torch::Tensor scores = model->forward(batch["input_ids"]);  // (B, S) -> (B, 2)
             return torch::cross_entropy_loss(scores.to(torch::kFloat), batch["label"]);
           },
       .trainer = {.optimizer = steps::make_adamw({.weight_decay = 0.01}),
                   .clip_gradient = 1,
                   .dynamic_loss_scale = steps::DynamicLossScale::Options()},
       .unit = "tokens",
       .units_per_sample = static_cast<double>(sizes.sequence)});
}

}  // namespace bench::ap2
