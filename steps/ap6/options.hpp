#pragma once

#include "ap6/dataset.hpp"
#include "ap6/network.hpp"
#include "ap6/prototype_training.hpp"
#include "ap6/sample.hpp"
#include "harness/batches.hpp"
#include "harness/loader_options.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"

#include <cstdint>

namespace bench::ap6 {

struct Options {
  Grid grid;
  Heads heads;
  std::int64_t frozen_steps = PrototypeTraining::default_frozen_steps;
  DatasetOptions dataset;
  steps::LoaderOptions loader;
  steps::RateSchedule schedule{.highest = 4.8,  // over epochs
                               .warmup = 10,
                               .first = 0.3,
                               .shape = steps::RateSchedule::Shape::cosine,
                               .lowest = 0.0048,
                               .end = 50};
};

/// Reads the command line, and completes what follows from it: the schedule ends with the epochs
/// that the user wants, and synthetic data sets have a size. Returns false if it asked for help.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options);

/// Synthetic samples, or the data set of the options.
steps::SampleFormat sample_format(const steps::Session& session, const Options& options);

/// Sets the length of an epoch in steps, since it ends with a clustering also where `--steps` says
/// how many there are.
/// @param batches that were made of `sample_format`
/// @returns samples of the data set
/// @throws steps::UsageError if a step of an epoch leaves fewer features than a head has clusters
std::int64_t set_epochs(steps::Session& session, const Options& options,
                        const steps::Batches& batches);

/// SGD with momentum, as in D3.7.
steps::TrainerOptions trainer_options(const steps::CommonArguments& arguments,
                                      const Options& options, std::int64_t global_batch);

}  // namespace bench::ap6
