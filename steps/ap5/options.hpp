#pragma once

#include "ap5/dataset.hpp"
#include "ap5/sample.hpp"
#include "harness/loader_options.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "harness/validation.hpp"

#include <cstdint>
#include <functional>

namespace bench::ap5 {

struct WganOptions {
  Grid grid;
  std::int64_t critic_updates = 5;  ///< Before each update of the generator.
  double critic_learning_rate = 1e-6;
};

struct Options {
  bool inference = false;
  WganOptions wgan;
  DatasetOptions dataset;
  steps::LoaderOptions loader;
  steps::ValidationOptions validation;
  steps::RateSchedule schedule{.highest = 5e-5,  // of the generator, over its samples
                               .shape = steps::RateSchedule::Shape::exponential,
                               .lowest = 5e-6,
                               .start = 5 * epoch_samples,
                               .end = 10 * epoch_samples};
};

/// @throws steps::UsageError if the critic cannot be trained on batches of this size: a
///         normalisation over a single value has no variance
void check_batch_size(const Grid& grid, std::int64_t batch_size);

/// Returns false if the command line asked for help or the version, which is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options);

/// With the same optimizer for both networks: Adam as in D3.7.
steps::TrainerOptions trainer_options(std::function<double(std::int64_t)> rate,
                                      std::int64_t global_batch);

}  // namespace bench::ap5
