#include "ap5/options.hpp"

#include "ap5/critic.hpp"
#include "ap5/generator.hpp"
#include "harness/program.hpp"
#include "harness/validators.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::ap5 {

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

void check_batch_size(const Grid& grid, std::int64_t batch_size) {
  constexpr std::int64_t side = std::int64_t{1} << critic_channels.size();
  if (batch_size > 1 || grid.height > side || grid.width > side)
    return;
  throw steps::UsageError(
      fmt::format("one field of {} x {} leaves the critic one value per channel to normalise over",
                  grid.height, grid.width),
      fmt::format("use --batch-size 2 or more, or --width {} or more", side + grid_divisor));
}

}  // namespace bench::ap5
