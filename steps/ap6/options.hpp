#pragma once

#include "ap6/data.hpp"
#include "ap6/network.hpp"
#include "harness/batches.hpp"
#include "harness/loader_options.hpp"
#include "harness/loop.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/torch_all.hpp"
#include "harness/trainer.hpp"

#include <cstdint>

namespace bench::ap6 {

/// Trains the prototypes beside the encoder. In the first steps they do not learn: only the
/// clustering moves them. The reference never gets beyond these.
class PrototypeTraining {
 public:
  /// Steps of the encoder in which they do not learn.
  static constexpr std::int64_t default_frozen_steps = 3'000'000;

  /// @param options as of the encoder, whose learning rate they have at each of its steps
  /// @param encoder must outlive this object
  PrototypeTraining(const steps::TrainingContext& context, Prototypes prototypes,
                    const steps::TrainerOptions& options, const steps::Trainer& encoder,
                    std::int64_t frozen_steps);

  bool is_frozen() const { return encoder_.steps() < frozen_steps_; }

  /// Unless they are frozen: an update by the loss of a batch whose features stay what they are.
  /// The encoder's backward pass of this step has ended.
  /// @param features (B, C, 128)
  /// @param labels (heads, B)
  void update(steps::Loop& loop, const torch::Tensor& features, const torch::Tensor& labels);

 private:
  Prototypes prototypes_;
  const steps::Trainer& encoder_;
  std::int64_t frozen_steps_;
  steps::Trainer trainer_;
};

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
