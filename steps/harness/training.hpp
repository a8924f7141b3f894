#pragma once

#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/loader_options.hpp"
#include "harness/loop.hpp"
#include "harness/quality.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/torch_all.hpp"
#include "harness/trainer.hpp"
#include "harness/validation.hpp"

#include <functional>
#include <string>

namespace CLI {
class App;
}

// The training of a network that learns what is in a data set. A program whose steps are others has
// a loop of its own.

namespace bench::steps {

/// Begins the session, and prints what the network costs.
/// @returns false if the command line asked for that alone (`--describe`); nothing has begun then
bool begin_or_describe(Session& session, const Cost& cost);

/// The mean loss of a batch, computed with the precision of the training.
using LossOf = std::function<torch::Tensor(const Batch&)>;

/// All steps of a training.
void run_steps(const Session& session, Loop& loop, Trainer& trainer, Batches& batches,
               const LossOf& loss_of);

/// What users choose of a training.
struct SupervisedOptions {
  LoaderOptions loader = {};
  ValidationOptions validation = {};
  RateSchedule schedule = {};  ///< Over samples.
};

/// Adds the options of data, validation and learning rate. `check_schedule_options` is for later.
void add_supervised_options(CLI::App& app, SupervisedOptions& options);

/// What a program trains its network on, and how.
struct SupervisedTask {
  SampleFormat format;
  LossOf loss_of;
  /// Optimizer, clipping and loss scale. The options say the rest.
  TrainerOptions trainer;
  std::string unit = "samples";  ///< Of the field, as in `ReportedWork`.
  double units_per_sample = 1;
};

/// Trains a network, which is on its device, and evaluates it meanwhile. Prints the results.
/// @returns the exit code of the program
int train_supervised(Session& session, torch::nn::Module& model, const Cost& cost,
                     const SupervisedOptions& options, SupervisedTask task);

/// What a training to a quality evaluates, beside the loss that it trains with.
struct QualityTask {
  LossOf loss_of;
  /// Quality and loss of each sample of a batch, (B, 2).
  std::function<torch::Tensor(const Batch&)> qualities_of;
};

/// Trains a network until it has the quality of the options, as MLPerf HPC does. Prints the
/// results.
/// @param data that were opened
/// @returns the exit code of the program
int train_to_quality(Session& session, torch::nn::Module& model, const Cost& cost, Trainer& trainer,
                     FieldData& data, const QualityOptions& options, const QualityTask& task);

}  // namespace bench::steps
