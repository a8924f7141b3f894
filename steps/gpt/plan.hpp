#pragma once

#include "gpt/options.hpp"
#include "transformer/plan.hpp"

namespace bench::gpt {

/// Activations are counted as this program keeps them: 19 numbers per token and width in a layer
/// (17 with learned positions), and two masks with dropout.
transformer::PlannedModel planned_model(const Options& options);

}  // namespace bench::gpt
