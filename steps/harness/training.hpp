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

#include <cstdint>
#include <functional>
#include <memory>
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

/// When a model is evaluated during training, and on which data.
struct ValidationOptions {
  std::int64_t interval = 0;  ///< Measured steps between evaluations; 0: none.
  std::int64_t epochs = 0;    ///< The same in epochs.
  std::int64_t samples =
      0;  ///< Samples per evaluation; 0: all of the files, or a global batch of synthetic samples.
  std::string path;  ///< Files of the validation set; empty: synthetic samples.
};

/// Adds `--eval-interval`, `--eval-epochs`, `--eval-samples` and `--eval-path`.
/// @param app has the options of `add_data_options`
void add_validation_options(CLI::App& app, ValidationOptions& options);

/// The validation loss.
///
///     Validation validation(session, options, loader, format);
///     validation.run_during(loop, trainer, *model, loss_of);
class Validation {
 public:
  /// Opens the files and prints their properties. All ranks must call it.
  /// @param loader of the training, whose threads and location of synthetic samples it shares
  /// @param session has the length of epochs, from `make_batches`; must outlive this object
  /// @throws UsageError, DataError as `make_batches`; UsageError if a data set has no validation
  /// files, these have fewer samples than an evaluation, or there are files and no evaluation
  Validation(Session& session, ValidationOptions options, const LoaderOptions& loader,
             const SampleFormat& format);

  /// Makes the loop evaluate the model after each interval, in evaluation mode, and print
  /// `evaluation_s`, `evaluation_samples` and `evaluation_loss`. Every evaluation uses the same
  /// samples. All arguments must outlive this object.
  /// @param loss_of returns the mean loss of a batch, which may be smaller than in the training
  void run_during(Loop& loop, const Trainer& trainer, torch::nn::Module& model,
                  std::function<torch::Tensor(const Batch&)> loss_of);

 private:
  /// @returns false if a rank received a signal to end
  bool evaluate(const Loop& loop, const Trainer& trainer, torch::nn::Module& model,
                const std::function<torch::Tensor(const Batch&)>& loss_of) const;

  Session& session_;
  ValidationOptions options_;
  LoaderOptions loader_;
  SampleFormat format_;
  std::shared_ptr<const FieldSource> source_;  ///< Empty: synthetic samples.
};

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
