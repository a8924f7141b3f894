#pragma once

#include "ap5/sample.hpp"

#include <cstdint>

namespace CLI {
class App;
}

namespace bench::ap5 {

struct WganOptions {
  Grid grid;
  std::int64_t critic_updates = 5;  ///< Before each update of the generator.
  double critic_learning_rate = 1e-6;
};

/// Adds `--height`, `--width`, `--critic-updates` and `--critic-learning-rate`.
void add_wgan_options(CLI::App& app, WganOptions& options);

/// @throws steps::UsageError if the critic cannot be trained on batches of this size: a
///         normalisation over a single value has no variance
void check_batch_size(const Grid& grid, std::int64_t batch_size);

}  // namespace bench::ap5
