#pragma once

#include "gpt/options.hpp"
#include "gpt/training.hpp"
#include "harness/timers.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench::gpt {

/// Prints what `--describe` promises.
void log_description(const Options& options);

/// Prints the options that decide the result.
void log_run(const Options& options);

/// `dataset=`, and of one that has an end `dataset_tokens=` and `dataset_samples=`, of one epoch.
void log_dataset(const Dataset& dataset);

/// The lines of `--mllog` that say how is trained.
void mllog_options(const Options& options);

/// Prints a line for every `log_interval` iterations, as they come.
class Progress {
 public:
  explicit Progress(const Options& options) : options_(options) {}

  /// Starts to measure the time of the first iteration.
  void begin();
  void add(const Iteration& iteration, std::int64_t consumed_samples);
  /// Prints what has not been printed.
  void end();

 private:
  void print();

  Options options_;
  std::int64_t iterations_ = 0;
  std::int64_t pending_ = 0;  ///< Iterations since the last line.
  std::int64_t skipped_ = 0;
  std::int64_t not_finite_ = 0;
  double loss_sum_ = 0;
  Iteration last_;
  std::int64_t consumed_samples_ = 0;
  long long since_ns_ = 0;  ///< CLOCK_MONOTONIC.
};

/// Prints times, rates and losses.
/// @param iterations that were measured
void log_results(const Options& options, const steps::Timers& timers,
                 const std::vector<Iteration>& iterations);

}  // namespace bench::gpt
