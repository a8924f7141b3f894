#pragma once

#include "gpt/options.hpp"
#include "harness/checkpoints.hpp"

namespace bench::gpt {

/// The settings of a run that tell whether it can go on from a checkpoint.
steps::CheckpointSettings checkpoint_settings(const Options& options);

}  // namespace bench::gpt
