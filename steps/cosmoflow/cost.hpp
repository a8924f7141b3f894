#pragma once

#include "cosmoflow/network.hpp"
#include "harness/cost.hpp"

namespace bench::cosmoflow {

/// Of `CosmoFlow`.
steps::Cost cost(const NetworkOptions& options);

}  // namespace bench::cosmoflow
