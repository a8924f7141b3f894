#pragma once

#include "harness/communicator.hpp"
#include "harness/torch_all.hpp"
#include "llama/model.hpp"
#include "llama/options.hpp"

namespace bench::llama {

/// The mean cross-entropy of the next tokens. With experts its gradient also spreads tokens evenly
/// over them.
/// @param scores (B, S, V/T)
/// @param tokens (B, S + 1) int64
torch::Tensor training_loss(const Llama& model, const Options& options, const torch::Tensor& scores,
                            const torch::Tensor& tokens, const steps::Communicator& group);

/// Prints the tokens of the experts with the most and the fewest, relative to an even share, as
/// means over the layers, and the last balance loss, the mean over layers and ranks. Nothing
/// without experts.
void log_expert_loads(const Llama& model, steps::Communicator& ranks);

}  // namespace bench::llama
