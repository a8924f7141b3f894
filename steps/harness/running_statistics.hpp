#pragma once

#include "harness/communicator.hpp"
#include "harness/torch_all.hpp"

namespace bench::steps {

/// Averages running means and variances of batch normalisations over the ranks, each of which has
/// collected its own. All ranks call it, before an evaluation or a checkpoint.
void average_running_statistics(const torch::nn::Module& model, Communicator& ranks);

}  // namespace bench::steps
