#pragma once

#include "ap2/sizes.hpp"

namespace CLI {
class App;
}

namespace bench::ap2 {

/// Adds `--seq`, and sizes for tests: `--layers`, `--hidden`, `--heads`, `--vocab-size`.
void add_size_options(CLI::App& app, Sizes& sizes);

/// @throws steps::UsageError if the heads do not divide the width
void check_sizes(const Sizes& sizes);

}  // namespace bench::ap2
