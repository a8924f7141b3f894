#pragma once

#include "ap4/sample.hpp"

#include <cstdint>

namespace CLI {
class App;
}

namespace bench::ap4 {

/// Adds `--height` and `--width`.
void add_grid_options(CLI::App& app, Grid& grid);

/// @throws steps::UsageError if the network cannot be trained on batches of such fields: their
///         height is not a multiple of 4 or one more, or a normalisation has a single value
void check_grid(const Grid& grid, std::int64_t batch_size);

}  // namespace bench::ap4
