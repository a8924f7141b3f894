#pragma once

#include "atmorep/data.hpp"
#include "atmorep/masking.hpp"
#include "atmorep/network.hpp"
#include "harness/loader_options.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bench::atmorep {

/// Adds `--fields` and the sizes for tests: `--levels`, `--tokens`, `--token-size`, `--width`,
/// `--heads`, `--layers`, `--ensemble`.
void add_size_options(CLI::App& app, Sizes& sizes);

/// Adds `--dropout` and `--recompute`.
void add_network_options(CLI::App& app, NetworkOptions& options);

/// The learning rate of AtmoRep's single fields, over samples. An epoch has 49,152 of them. The
/// rate rises for two epochs, then falls by a factor of 1.025 in each, to a lowest one.
steps::RateSchedule default_schedule();

struct Options {
  Sizes sizes;
  Masking masking;
  NetworkOptions network;
  DatasetOptions dataset;
  steps::LoaderOptions loader;
  steps::RateSchedule schedule = default_schedule();
};

/// Reads the command line. Returns false if it asked for help, which then is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options);

/// The fields of `--fields`: the first ones of all, or those named.
/// @throws steps::UsageError if a field is unknown or named twice
std::vector<std::string> parse_fields(const std::string& text);

/// @throws steps::UsageError if the heads do not divide the width, it has no room for tokens, or
///         there are not as many masking rates as fields
void check_options(const Sizes& sizes, const Masking& masking);

}  // namespace bench::atmorep
