// ap2: trains the classifier of tweets of MAELSTROM's application 2 and reports how fast. See
// README.md.

#include "ap2/data.hpp"
#include "ap2/network.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/loader_options.hpp"
#include "harness/loop.hpp"
#include "harness/optimizer.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "harness/validation.hpp"

#include <cstdint>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::ap2 {
namespace {

// One epoch of MAELSTROM's runs, and 500 steps of 32 samples.
inline constexpr double epoch_samples = 148'000;

inline constexpr double warmup_samples = 500 * 32;

struct Options {
  Sizes sizes;
  double dropout = 0.1;
  steps::LoaderOptions loader;
  steps::ValidationOptions validation;
  steps::RateSchedule schedule{.highest = 3e-5,  // over samples
                               .warmup = warmup_samples,
                               .shape = steps::RateSchedule::Shape::polynomial,
                               .end = epoch_samples};
};

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

/// Returns false if the command line asked for help or the version, which is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options) {
  steps::add_batch_options(session.app(), session.arguments());
  add_size_options(session.app(), options.sizes);
  session.app()
      .add_option("--dropout", options.dropout, "Share of numbers set to 0 in training")
      ->check(steps::from_0_to_below_1());
  steps::add_data_options(session.app(), options.loader);
  steps::add_validation_options(session.app(), options.validation);
  steps::add_schedule_options(session.app(), options.schedule, "samples");
  if (!session.parse(argc, argv))
    return false;
  steps::check_schedule_options(session.app(), options.schedule);
  check_sizes(options.sizes);
  return true;
}

int train(steps::Session& session, const Options& options, const steps::Cost& cost) {
  Deberta model(options.sizes, options.dropout);
  model->to(session.device());
  const std::int64_t global_batch = session.arguments().batch_size * session.ranks().size();
  session.load_weights(*model);
  steps::Trainer trainer(session.context(), *model,
                         {.optimizer = steps::make_adamw({.weight_decay = 0.01}),
                          .learning_rate = steps::rate_of(options.schedule),
                          .global_batch = global_batch,
                          .micro_batches = session.arguments().micro_batches,
                          .clip_gradient = 1,
                          .dynamic_loss_scale = steps::DynamicLossScale::Options()});
  const steps::SampleFormat format = sample_format(options.sizes);
  const auto batches = steps::make_batches(session, options.loader, format);
  steps::Validation validation(session, options.validation, options.loader, format);
  const auto loss_of = [&](const steps::Batch& batch) {
    const steps::Autocast autocast = trainer.autocast();
    const torch::Tensor scores = model->forward(batch["input_ids"]);  // (B, S) -> (B, 2)
    return torch::cross_entropy_loss(scores.to(torch::kFloat), batch["label"]);
  };

  steps::StepLines log(session.arguments().steps, global_batch);
  session.start_training();
  steps::Loop loop(session.timers(), trainer, log, steps::loop_options(session.arguments()));
  validation.run_during(loop, trainer, *model, loss_of);
  while (loop.next()) {
    for (std::int64_t i = 0; i < session.arguments().micro_batches; ++i) {
      const steps::Batch& batch = *loop.io([&] { return &batches->next(); });
      const torch::Tensor loss = loop.forward([&] { return loss_of(batch); });
      loop.backward([&] { trainer.backward(loss); });
    }
    loop.update();
  }
  steps::ReportedWork work = steps::reported_work(cost, global_batch, "tokens");
  work.units_per_sample = static_cast<double>(options.sizes.sequence);
  steps::report_measured(session, loop, work);
  steps::log_loader(*batches);
  session.save_weights(*model, loop);
  return steps::report_outcome(session, loop);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  steps::Session session("ap2",
                         "Trains the classifier of tweets of MAELSTROM's AP2, reports its speed.");
  if (!read_options(session, argc, argv, options))
    return steps::exit_ok;
  const steps::Cost network_cost =
      cost(options.sizes, steps::micro_batch_size(session.arguments()));
  if (session.arguments().describe) {
    network_cost.log();
    return steps::exit_ok;
  }
  session.begin();
  network_cost.log();
  return train(session, options, network_cost);
}

}  // namespace bench::ap2
