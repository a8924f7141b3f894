#pragma once

#include "harness/batches.hpp"
#include "harness/communicator.hpp"
#include "vision/model.hpp"
#include "vision/options.hpp"

#include <optional>

namespace bench::vision {

/// Of the images of all ranks.
struct Evaluation {
  double seconds;
  double images_per_second;
  double loss;  ///< Mean over all batches of all ranks, as are the shares below.
  double top1_percent;
  double top5_percent;
};

/// Passes `options.eval_steps` batches of images forward, in evaluation mode and without gradients;
/// the model stays in that mode.
///
/// The first batch is passed once more before, which is not measured. Begin and end wait for the
/// device; under a meter they are those of the region `evaluation`. All ranks call it, each with
/// its part of the images.
/// @returns nothing if a signal asked a rank to end meanwhile
std::optional<Evaluation> evaluate(const Options& options, steps::Batches& batches, Network& model,
                                   steps::Communicator& ranks, const torch::Device& device);

}  // namespace bench::vision
