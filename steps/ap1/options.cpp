#include "ap1/options.hpp"

#include "ap1/network.hpp"
#include "harness/program.hpp"
#include "harness/validators.hpp"

#include <cstdint>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::ap1 {

void add_network_options(CLI::App& app, NetworkOptions& options) {
  app.add_option("--patch", options.patch, "Side of the square patches in grid points")
      ->check(steps::multiple_of(patch_divisor, std::int64_t{1} << 14));
  app.add_option("--activation", options.activation_name, "relu, or leaky_relu with slope 0.3")
      ->check(CLI::IsMember({"relu", "leaky_relu"}));
}

void check_batch_size(const NetworkOptions& options, std::int64_t batch_size) {
  if (batch_size > 1 || options.patch > patch_divisor)
    return;
  throw steps::UsageError(
      fmt::format("one patch of side {} leaves one value per channel to normalise over",
                  options.patch),
      fmt::format("use --batch-size 2 or more, or --patch {} or more", 2 * patch_divisor));
}

}  // namespace bench::ap1
