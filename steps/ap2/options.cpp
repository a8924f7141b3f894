#include "ap2/options.hpp"

#include "harness/program.hpp"

#include <cstdint>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::ap2 {

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

void check_sizes(const Sizes& sizes) {
  if (sizes.hidden % sizes.heads != 0)
    throw steps::UsageError(
        fmt::format("{} heads do not divide a width of {}", sizes.heads, sizes.hidden),
        "make --hidden a multiple of --heads");
}

}  // namespace bench::ap2
