#pragma once

#include "ap6/network.hpp"
#include "harness/loop.hpp"
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

}  // namespace bench::ap6
