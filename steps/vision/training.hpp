#pragma once

#include "harness/batches.hpp"
#include "harness/communicator.hpp"
#include "harness/timers.hpp"
#include "vision/model.hpp"
#include "vision/options.hpp"
#include "vision/recorder.hpp"

#include <cstdint>

namespace bench::vision {

/// Trains the model, which is on the device. Ranks train copies of that of rank 0.
/// Ends with the first step whose loss, the mean over the ranks, is not finite, or in which a
/// signal asked a rank to end; on a GPU some steps later, see steps::LaggedNumbers. Prints the
/// progress of the measured steps.
/// @param epoch_images of an epoch, for the learning rate
/// @param timers get the times of the measured steps
/// @returns what all steps gave that were done, warm-up included
History train(const Options& options, std::int64_t epoch_images, steps::Batches& batches,
              Network& model, steps::Communicator& communicator, const torch::Device& device,
              steps::Timers& timers);

}  // namespace bench::vision
