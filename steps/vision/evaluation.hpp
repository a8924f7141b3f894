#pragma once

#include "harness/trainer.hpp"
#include "vision/dataset.hpp"
#include "vision/network/model.hpp"
#include "vision/options.hpp"

#include <cstdint>

namespace bench::vision {

/// Passes images of the validation part through the model, in evaluation mode, and prints loss and
/// accuracy.
/// @param epoch from 1, for `--mllog`
/// @returns false if a signal asked a rank to end meanwhile
bool evaluate(const Options& options, const Dataset& dataset, Network& model,
              const steps::Trainer& trainer, std::int64_t epoch);

}  // namespace bench::vision
