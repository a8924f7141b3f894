#pragma once

#include "gpt/options.hpp"
#include "harness/session.hpp"
#include "transformer/inference.hpp"

namespace bench::gpt {

transformer::InferenceCost inference_cost(const Architecture& architecture);

/// Generates tokens with the network, and prints how fast.
/// @returns the exit code of the program
int infer(steps::Session& session, const Options& options);

}  // namespace bench::gpt
