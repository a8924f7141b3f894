#pragma once

#include "harness/loader_options.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/validation.hpp"

#include <string>

namespace bench::ap3 {

struct Options {
  std::string model = "cnn";
  bool inference = false;
  steps::LoaderOptions loader;
  steps::ValidationOptions validation;
  steps::RateSchedule schedule{.highest = 1e-4};  // over samples
};

/// Returns false if the command line asked for help or the version, which is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options);

}  // namespace bench::ap3
