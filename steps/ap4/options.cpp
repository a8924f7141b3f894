#include "ap4/options.hpp"

#include "ap4/network.hpp"
#include "ap4/sample.hpp"
#include "harness/program.hpp"
#include "harness/validators.hpp"

#include <cstdint>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::ap4 {

void add_grid_options(CLI::App& app, Grid& grid) {
  constexpr std::int64_t most = std::int64_t{1} << 14;
  app.add_option("--height", grid.height, "Grid points from pole to pole")
      ->check(CLI::Range(grid_divisor, most));
  app.add_option("--width", grid.width, "Grid points along a parallel")
      ->check(steps::multiple_of(grid_divisor, most));
}

void check_grid(const Grid& grid, std::int64_t batch_size) {
  if (grid.height % grid_divisor > 1)
    throw steps::UsageError(
        fmt::format("a height of {} is not a multiple of {}, or one more", grid.height,
                    grid_divisor),
        fmt::format("use --height {}", grid.height / grid_divisor * grid_divisor));
  if (batch_size == 1 && grid.height / grid_divisor == 1 && grid.width == grid_divisor)
    throw steps::UsageError(
        fmt::format("one field of {} x {} leaves one value per channel to normalise over",
                    grid.height, grid.width),
        fmt::format("use --batch-size 2 or more, or --width {} or more", 2 * grid_divisor));
}

}  // namespace bench::ap4
