#pragma once

#include "harness/checkpoints.hpp"
#include "transformer/training_options.hpp"

namespace bench::transformer {

/// The settings of a run that tell whether it can go on from a checkpoint.
/// @param own of the program: its name, and its lines `name=value`
steps::CheckpointSettings checkpoint_settings(const TrainingOptions& options,
                                              const steps::CheckpointSettings& own);

}  // namespace bench::transformer
