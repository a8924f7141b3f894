#pragma once

#include "ap2/sizes.hpp"
#include "harness/loader_options.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/validation.hpp"

namespace bench::ap2 {

// One epoch of MAELSTROM's runs, and 500 steps of 32 samples.
inline constexpr double epoch_samples = 148'000;
inline constexpr double warmup_samples = 500 * 32;

struct Options {
  Sizes sizes;
  double dropout = 0.1;
  steps::LoaderOptions loader;
  steps::ValidationOptions validation;
  steps::RateSchedule schedule{.highest = 3e-5,  // over samples
                               .warmup = warmup_samples,
                               .shape = steps::RateSchedule::Shape::polynomial,
                               .end = epoch_samples};
};

/// @throws steps::UsageError if the heads do not divide the width
void check_sizes(const Sizes& sizes);

/// Returns false if the command line asked for help or the version, which is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options);

}  // namespace bench::ap2
