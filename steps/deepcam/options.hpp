#pragma once

#include "data/fields.hpp"
#include "data/random.hpp"
#include "deepcam/network.hpp"
#include "harness/cost.hpp"
#include "harness/loader_options.hpp"
#include "harness/optimizer.hpp"
#include "harness/quality.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench::deepcam {

/// Channels of the fields that show cyclones and rivers.
namespace channel {
inline constexpr std::int64_t water_vapour = 0;        ///< TMQ: of the whole column.
inline constexpr std::int64_t sea_level_pressure = 7;  ///< PSL.
}  // namespace channel

/// `data` (H, W, 16) and `labels`, int64 (H, W).
std::vector<steps::Field> fields(std::int64_t height, std::int64_t width);

/// The samples of MLPerf HPC's files, HDF5 with one sample each: `climate/data`, float32
/// (H, W, 16), and `climate/labels_0`, integers (H, W).
/// @throws as `steps::open_hdf5_fields`; a label that is no class is a DataError in its file
std::unique_ptr<steps::FieldSource> open_samples(const std::vector<std::string>& files);

/// Fills a sample that can be learnt: a tropical cyclone, which is a disc of low pressure, and an
/// atmospheric river, which is a band of much water vapour. They cover about as much as in the
/// published data. All other values are uniform in [0, 1).
/// @param random the same numbers give the same sample
/// @param width W, of images whose height follows from the size of the spans
/// @param data (H, W, 16)
/// @param labels (H, W)
void make_synthetic_sample(steps::Random random, std::int64_t width, std::span<float> data,
                           std::span<std::int64_t> labels);

/// Reads `climate/minval` and `climate/maxval` (16) of the data set's file `stats.h5`.
/// @throws UsageError if it cannot be opened, DataError if it has no such variables, or a channel
///         has no range
ValueRange read_value_range(const std::string& file);

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
