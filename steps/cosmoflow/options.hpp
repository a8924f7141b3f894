#pragma once

#include "cosmoflow/network.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"
#include "harness/cost.hpp"
#include "harness/loader_options.hpp"
#include "harness/optimizer.hpp"
#include "harness/quality.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench::cosmoflow {

/// `x` (N, N, N, 4), particles in each cell, and `y` (4).
/// @param size N, the side of the cube
std::vector<steps::Field> fields(std::int64_t size);

/// The samples of MLPerf HPC's files: TFRecord, which may be compressed, with one record each, an
/// Example of `x`, int16 (N, N, N, 4) as bytes, and `y`, four floats.
/// @throws as `steps::open_example_fields`
std::unique_ptr<steps::FieldSource> open_samples(const std::vector<std::string>& files,
                                                 std::int64_t size, int threads);

/// Fills a sample that can be learnt: parameters uniform in [-1, 1), and independent cells whose
/// counts are exponentially distributed, rounded down. The mean count of channel c is 2 exp(y_c).
/// @param random the same numbers give the same sample
/// @param counts (N, N, N, 4), N even
/// @param parameters (4)
void make_synthetic_sample(steps::Random random, std::span<float> counts,
                           std::span<float> parameters);

/// Defaults are those of MLPerf HPC's reference implementation, github.com/mlcommons/hpc,
/// cosmoflow/configs/cosmo.yaml.
struct Options {
  NetworkOptions network;
  steps::LoaderOptions data;
  double base_learning_rate = 1e-3;
  /// Over epochs. The highest rate grows with the global batch size, and the warm-up begins at the
  /// base rate.
  steps::RateSchedule schedule{.highest = 0,
                               .warmup = 4,
                               .shape = steps::RateSchedule::Shape::step,
                               .milestones = {32, 64},
                               .factors = {0.25, 0.5}};
  steps::SgdOptions sgd{.momentum = 0.9, .weight_decay = 0};
  steps::QualityOptions quality{.metric = "eval_error", .lower_is_better = true, .target = 0.124};
  steps::SubmissionOptions submission;

  steps::FieldData make_data() const;
};

/// Returns false if the command line asked for help or the version, which is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options);

/// Scales the learning rate to the global batch size, unless it was given.
void scale_learning_rate(const CLI::App& app, Options& options, std::int64_t global_batch);

/// Prints version, input and cost of the network.
void log_network(const NetworkOptions& options, const steps::Cost& cost);

/// Prints hyperparameters, in the lines of `--mllog` all of them.
void log_options(const Options& options);

}  // namespace bench::cosmoflow
