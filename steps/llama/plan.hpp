#pragma once

#include "llama/options.hpp"
#include "transformer/plan.hpp"

namespace bench::llama {

/// Activations are counted as this program keeps them, per token and layer, with h the width, k
/// that of all key/value heads and f that of the MLPs that a token uses:
///
///     normalisations  their input (in fp32), that divided by its norm, and their output: 6 h
///     attention       queries, keys, values, and the result: 2 h + 2 k
///     MLP             gate and input (2 f), the activated gate, and the product: 4 f
///     with experts    also their inputs, results, and results by token: 3 h of each that is used
transformer::PlannedModel planned_model(const Options& options);

}  // namespace bench::llama
