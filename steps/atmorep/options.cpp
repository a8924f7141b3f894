#include "atmorep/options.hpp"

#include "atmorep/data.hpp"
#include "atmorep/masking.hpp"
#include "atmorep/network.hpp"
#include "harness/arguments.hpp"
#include "harness/errors.hpp"
#include "harness/loader_options.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

namespace bench::atmorep {
namespace {

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

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
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

}  // namespace

std::vector<std::string> parse_fields(const std::string& text) {
  const std::string hint = fmt::format("--fields takes 1 to {}, or names among {} with commas",
                                       known_fields.size(), fmt::join(known_fields, ", "));
  if (is_number(text)) {
    if (text.size() > 1 || text == "0" || text > std::to_string(known_fields.size()))
      throw steps::UsageError(
          fmt::format("{} fields are not among the {} known ones", text, known_fields.size()),
          hint);
    return {known_fields.begin(), known_fields.begin() + std::stol(text)};
  }
  std::vector<std::string> fields;
  std::istringstream names(text);
  for (std::string name; std::getline(names, name, ',');) {
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (std::ranges::find(known_fields, name) == known_fields.end())
      throw steps::UsageError(fmt::format("unknown field '{}'", name), hint);
    if (std::ranges::find(fields, name) != fields.end())
      throw steps::UsageError(fmt::format("field '{}' is given twice", name), hint);
    fields.push_back(name);
  }
  if (fields.empty())
    throw steps::UsageError("no field is given", hint);
  return fields;
}

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

void add_network_options(CLI::App& app, NetworkOptions& options) {
  app.add_option("--dropout", options.dropout, "Share of numbers set to 0 in training")
      ->check(steps::from_0_to_below_1());
  app.add_option_function<std::string>(
         "--recompute", [&options](const std::string& what) { options.recompute = what == "full"; },
         "What the backward pass computes again: full (all layers), none")
      ->check(CLI::IsMember({"full", "none"}))
      ->default_str(options.recompute ? "full" : "none");
}

void check_options(const Sizes& sizes, const Masking& masking) {
  if (sizes.width % sizes.heads != 0)
    throw steps::UsageError(
        fmt::format("{} heads do not divide a width of {}", sizes.heads, sizes.width),
        "make --width a multiple of --heads");
  if (sizes.width <= token_info_width)
    throw steps::UsageError(
        fmt::format("a width of {} has no room for tokens: where and when they are takes {}",
                    sizes.width, token_info_width),
        fmt::format("use --width {} or more", 2 * token_info_width));
  if (masking.rates.size() != 1 && masking.rates.size() != sizes.fields.size())
    throw steps::UsageError(
        fmt::format("{} masking rates for {} fields", masking.rates.size(), sizes.fields.size()),
        "give --masking-rate one number, or one for each field");
}

steps::RateSchedule default_schedule() {
  constexpr double epoch_samples = 12 * 4096;
  constexpr double highest = 1.5e-4;
  constexpr double lowest = 4e-5;
  constexpr double warmup_epochs = 2;
  const double decay_epochs = std::log(highest / lowest) / std::log(1.025);
  return {.highest = highest,
          .warmup = warmup_epochs * epoch_samples,
          .first = 5e-6,
          .shape = steps::RateSchedule::Shape::exponential,
          .lowest = lowest,
          .end = std::round((warmup_epochs + decay_epochs) * epoch_samples)};
}

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

}  // namespace bench::atmorep
