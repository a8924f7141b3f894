#pragma once

#include "harness/cost.hpp"

namespace bench::ap3 {

steps::Cost cnn_cost();
steps::Cost lstm_cost();
/// Of reading alone: inputs, and no network.
steps::Cost reading_cost();

}  // namespace bench::ap3
