#include "ap6/prototype_training.hpp"

#include "ap6/loss.hpp"
#include "ap6/network.hpp"
#include "harness/loop.hpp"
#include "harness/trainer.hpp"

#include <cstdint>
#include <utility>

namespace bench::ap6 {
namespace {

/// Its own trainer counts no samples while they are frozen.
steps::TrainerOptions at_steps_of(const steps::Trainer& encoder, steps::TrainerOptions options) {
  options.learning_rate = [&encoder, rate = options.learning_rate](std::int64_t) {
    return rate(encoder.samples());
  };
  return options;
}

}  // namespace

PrototypeTraining::PrototypeTraining(const steps::TrainingContext& context, Prototypes prototypes,
                                     const steps::TrainerOptions& options,
                                     const steps::Trainer& encoder, std::int64_t frozen_steps)
    : prototypes_(std::move(prototypes)),
      encoder_(encoder),
      frozen_steps_(frozen_steps),
      trainer_(context, *prototypes_, at_steps_of(encoder, options)) {}

void PrototypeTraining::update(steps::Loop& loop, const torch::Tensor& features,
                               const torch::Tensor& labels) {
  if (is_frozen())
    return;
  const torch::Tensor loss = cluster_loss(features.detach(), prototypes_->weight, labels);
  loop.backward([&] { trainer_.backward(loss); });
  loop.update(trainer_);
}

}  // namespace bench::ap6
