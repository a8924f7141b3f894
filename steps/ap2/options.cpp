#include "ap2/options.hpp"

#include "ap2/sizes.hpp"
#include "harness/arguments.hpp"
#include "harness/loader_options.hpp"
#include "harness/program.hpp"
#include "harness/schedule_options.hpp"
#include "harness/session.hpp"
#include "harness/validation.hpp"
#include "harness/validators.hpp"

#include <cstdint>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::ap2 {
namespace {

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

}  // namespace

void check_sizes(const Sizes& sizes) {
  if (sizes.hidden % sizes.heads != 0)
    throw steps::UsageError(
        fmt::format("{} heads do not divide a width of {}", sizes.heads, sizes.hidden),
        "make --hidden a multiple of --heads");
}

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

}  // namespace bench::ap2
