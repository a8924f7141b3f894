// atmorep: trains AtmoRep, a transformer that fills in masked parts of the atmosphere's fields, and
// reports how fast. See README.md.

#include "atmorep/data.hpp"
#include "atmorep/network.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/optimizer.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "harness/training.hpp"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

namespace bench::atmorep {
namespace {

struct Options {
  Sizes sizes;
  Masking masking;
  NetworkOptions network;
  DatasetOptions dataset;
  steps::LoaderOptions loader;
  steps::RateSchedule schedule = default_schedule();
};

void add_cube(CLI::App& app, const std::string& name, Cube& cube, const std::string& description) {
  app.add_option_function<std::vector<std::int64_t>>(
         name,
         [&cube](const std::vector<std::int64_t>& extents) {
           cube = {.times = extents.at(0), .rows = extents.at(1), .columns = extents.at(2)};
         },
         description)
      ->delimiter(',')
      ->expected(3)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 10))
      ->default_str(fmt::format("{},{},{}", cube.times, cube.rows, cube.columns));
}

/// Adds `--fields` and the sizes for tests: `--levels`, `--tokens`, `--token-size`, `--width`,
/// `--heads`, `--layers`, `--ensemble`.
void add_size_options(CLI::App& app, Sizes& sizes) {
  const auto between = [](std::int64_t least, std::int64_t most) {
    return CLI::Range(least, most);
  };
  app.add_option_function<std::string>(
         "--fields", [&sizes](const std::string& text) { sizes.fields = parse_fields(text); },
         "Coupled fields: a number of them, or names")
      ->default_str(fmt::format("{}", fmt::join(sizes.fields, ",")));
  app.add_option("--levels", sizes.levels, "Vertical levels of each field")
      ->check(between(1, 1 << 10));
  add_cube(app, "--tokens", sizes.tokens, "Tokens of a level: times,rows,columns");
  add_cube(app, "--token-size", sizes.token, "Grid points of a token: times,rows,columns");
  app.add_option("--width", sizes.width, "Width of the network")
      ->check(steps::multiple_of(2, 1 << 16));
  app.add_option("--heads", sizes.heads, "Attention heads")->check(steps::multiple_of(2, 1 << 10));
  app.add_option("--layers", sizes.layers, "Layers of the encoder, and as many of the decoder")
      ->check(between(1, 1 << 10));
  app.add_option("--ensemble", sizes.ensemble, "Predictions of each token")
      ->check(between(2, 1 << 10));
}

/// Adds `--masking-rate` and `--masking-shares`.
void add_masking_options(CLI::App& app, Masking& masking) {
  app.add_option("--masking-rate", masking.rates,
                 "Largest share of masked tokens: one for all fields, or one for each with commas")
      ->delimiter(',')
      ->check(steps::positive() & steps::between(0, 1));
  app.add_option_function<std::vector<double>>(
         "--masking-shares",
         [&masking](const std::vector<double>& shares) {
           masking.hidden = shares.at(0);
           masking.noisy = shares.at(1);
           masking.coarse = shares.at(2);
         },
         "Shares of masked tokens that are hidden,noisy,coarse")
      ->delimiter(',')
      ->expected(3)
      ->check(steps::between(0, 1))
      ->default_str(fmt::format("{},{},{}", masking.hidden, masking.noisy, masking.coarse));
}

/// Adds `--dropout` and `--recompute`.
void add_network_options(CLI::App& app, NetworkOptions& options) {
  app.add_option("--dropout", options.dropout, "Share of numbers set to 0 in training")
      ->check(steps::from_0_to_below_1());
  app.add_option_function<std::string>(
         "--recompute", [&options](const std::string& what) { options.recompute = what == "full"; },
         "What the backward pass computes again: full (all layers), none")
      ->check(CLI::IsMember({"full", "none"}))
      ->default_str(options.recompute ? "full" : "none");
}

/// Reads the command line. Returns false if it asked for help, which then is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options) {
  session.arguments().batch_size = 4;
  steps::add_batch_options(session.app(), session.arguments());
  add_size_options(session.app(), options.sizes);
  add_masking_options(session.app(), options.masking);
  add_network_options(session.app(), options.network);
  steps::add_data_options(session.app(), options.loader);
  add_dataset_options(session.app(), options.dataset);
  steps::add_schedule_options(session.app(), options.schedule, "samples");
  if (!session.parse(argc, argv))
    return false;
  steps::check_schedule_options(session.app(), options.schedule);
  check_options(options.sizes, options.masking);
  options.network.precision = session.arguments().precision();
  return true;
}

double mean_observed(const steps::StepResult& step) {
  return std::accumulate(step.observed.begin(), step.observed.end(), 0.0) /
         static_cast<double>(step.observed.size());
}

/// Prints what `steps::report_measured` does, and `first_squared_error=` and
/// `final_squared_error=`: of the ensemble's mean, the one number that each pass observed.
void report_training(steps::Session& session, const steps::Loop& loop, const Sizes& sizes,
                     const steps::Cost& cost, std::int64_t global_batch) {
  steps::ReportedWork work = steps::reported_work(cost, global_batch, "tokens");
  work.units_per_sample = static_cast<double>(sizes.field_count() * sizes.field_tokens());
  steps::report_measured(session, loop, work);
  if (loop.results().empty())
    return;
  steps::log_value("first_squared_error", mean_observed(loop.results().front()));
  steps::log_value("final_squared_error", mean_observed(loop.results().back()));
}

int train(steps::Session& session, const Options& options, const steps::Cost& cost) {
  const steps::CommonArguments& arguments = session.arguments();
  AtmoRep model(options.sizes, options.network, session.device());
  const std::int64_t global_batch = session.global_batch();
  session.load_weights(*model);
  steps::Trainer trainer(session.context(), *model,
                         {.optimizer = steps::make_adamw({.weight_decay = 0.05}),
                          .learning_rate = steps::rate_of(options.schedule),
                          .global_batch = global_batch,
                          .micro_batches = arguments.micro_batches,
                          .dynamic_loss_scale = steps::DynamicLossScale::Options()});
  const auto batches =
      steps::make_batches(session, options.loader, sample_format(options.sizes, options.dataset));
  // One batch on the device has the same masks in every step, too.
  const bool resident = options.loader.path.empty() && options.loader.synthetic == "device";
  SampleRange samples{.seed = arguments.seed, .count = steps::micro_batch_size(arguments)};

  steps::StepLines log(arguments.steps, global_batch);
  session.start_training();
  steps::Loop loop(session.timers(), trainer, log, steps::loop_options(arguments));
  while (loop.next()) {
    for (std::int64_t i = 0; i < arguments.micro_batches; ++i) {
      const steps::Batch& batch = *loop.io([&] { return &batches->next(); });
      samples.first = (resident ? 0 : trainer.samples()) +
                      session.ranks().rank() * arguments.batch_size + i * samples.count;
      const Loss loss = loop.forward([&] {
        const steps::Autocast autocast = trainer.autocast();
        const torch::Tensor tokens =
            tokens_of(batch["fields"], options.sizes);  // (B, F, L, T, H, W) -> (F, B, N, points)
        const MaskedBatch masked =
            mask(tokens, draw_masks(options.masking, options.sizes, samples), options.sizes.token);
        const auto predicted =  // of each field (E, M, points)
            model->forward(masked.tokens, batch["token_info"], masked.rows);
        return loss_of(predicted, masked);
      });
      loop.backward([&] { trainer.backward(loss.total); });
      trainer.observe(loss.squared_error);
    }
    loop.update();
  }
  report_training(session, loop, options.sizes, cost, global_batch);
  steps::log_loader(*batches);
  session.save_weights(*model, loop);
  return steps::report_outcome(session, loop);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  steps::Session session("atmorep", "Trains AtmoRep on masked fields and reports its speed.");
  if (!read_options(session, argc, argv, options))
    return steps::exit_ok;
  const steps::Cost network_cost = cost(options.sizes, options.masking);
  if (!steps::begin_or_describe(session, network_cost))
    return steps::exit_ok;
  return train(session, options, network_cost);
}

}  // namespace bench::atmorep
