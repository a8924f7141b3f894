#include "ap5/options.hpp"

#include "ap5/critic.hpp"
#include "ap5/dataset.hpp"
#include "ap5/generator.hpp"
#include "ap5/sample.hpp"
#include "harness/adamw.hpp"
#include "harness/arguments.hpp"
#include "harness/inference.hpp"
#include "harness/loader_options.hpp"
#include "harness/program.hpp"
#include "harness/schedule_options.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "harness/validation.hpp"
#include "harness/validators.hpp"

#include <cstdint>
#include <functional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::ap5 {
namespace {

void add_wgan_options(CLI::App& app, WganOptions& options) {
  constexpr std::int64_t most = std::int64_t{1} << 14;
  app.add_option("--height", options.grid.height, "Rows of the fine grid")
      ->check(steps::multiple_of(grid_divisor, most));
  app.add_option("--width", options.grid.width, "Columns of the fine grid")
      ->check(steps::multiple_of(grid_divisor, most));
  app.add_option("--critic-updates", options.critic_updates,
                 "Updates of the critic before each one of the generator")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 10));
  app.add_option("--critic-learning-rate", options.critic_learning_rate,
                 "Learning rate of the critic")
      ->check(steps::not_negative());
}

}  // namespace

void check_batch_size(const Grid& grid, std::int64_t batch_size) {
  constexpr std::int64_t side = std::int64_t{1} << critic_channels.size();
  if (batch_size > 1 || grid.height > side || grid.width > side)
    return;
  throw steps::UsageError(
      fmt::format("one field of {} x {} leaves the critic one value per channel to normalise over",
                  grid.height, grid.width),
      fmt::format("use --batch-size 2 or more, or --width {} or more", side + grid_divisor));
}

bool read_options(steps::Session& session, int argc, char** argv, Options& options) {
  steps::add_batch_size_option(session.app(), session.arguments());
  add_wgan_options(session.app(), options.wgan);
  steps::add_data_options(session.app(), options.loader);
  add_dataset_options(session.app(), options.dataset);
  steps::add_validation_options(session.app(), options.validation);
  steps::add_schedule_options(session.app(), options.schedule, "samples");
  steps::add_inference_option(session.app(), options.inference);
  for (const char* of_training : {"--critic-updates", "--critic-learning-rate"})
    session.app().get_option("--inference")->excludes(session.app().get_option(of_training));
  if (!session.parse(argc, argv))
    return false;
  steps::check_schedule_options(session.app(), options.schedule);
  if (!options.inference)
    check_batch_size(options.wgan.grid, session.arguments().batch_size);
  options.loader.updates_per_step = options.wgan.critic_updates + 1;
  return true;
}

steps::TrainerOptions trainer_options(std::function<double(std::int64_t)> rate,
                                      std::int64_t global_batch) {
  return {.optimizer = steps::make_adamw({.beta1 = 0, .beta2 = 0.9, .weight_decay = 0}),
          .learning_rate = std::move(rate),
          .global_batch = global_batch};
}

}  // namespace bench::ap5
