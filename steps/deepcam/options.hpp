#pragma once

#include "deepcam/data.hpp"
#include "harness/cost.hpp"
#include "harness/loader_options.hpp"
#include "harness/optimizer.hpp"
#include "harness/quality.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace bench::deepcam {

/// Defaults are those of MLPerf HPC's reference implementation, github.com/mlcommons/hpc,
/// deepcam/src/deepCam/utils/parser.py, and the schedule of run_scripts/run_training.sh.
struct Options {
  std::int64_t height = 768;
  std::int64_t width = 1152;
  steps::LoaderOptions data;
  std::string optimizer = "adam";  ///< adam, adamw, lamb
  std::optional<double> given_weight_decay;
  double beta1 = 0.9;
  double beta2 = 0.999;
  /// Over steps.
  steps::RateSchedule schedule{
      .highest = 0, .warmup = 400, .shape = steps::RateSchedule::Shape::step, .milestones = {1200}};
  steps::QualityOptions quality{.metric = "eval_accuracy", .target = 0.82};
  steps::SubmissionOptions submission;

  double weight_decay() const;
  steps::MakeOptimizer make_optimizer() const;
  steps::FieldData make_data() const;
  /// Smallest and largest values, from the file `stats.h5` of the data set; empty without one.
  std::optional<ValueRange> value_range() const;
};

/// Returns false if the command line asked for help or the version, which is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options);

/// Prints input and cost of the network.
void log_network(const Options& options, const steps::Cost& cost);

/// Prints hyperparameters, in the lines of `--mllog` all of them.
void log_options(const Options& options, const steps::CommonArguments& arguments);

/// How a network is trained by these options.
steps::TrainerOptions trainer_options(const Options& options,
                                      const steps::CommonArguments& arguments,
                                      std::int64_t global_batch);

}  // namespace bench::deepcam
