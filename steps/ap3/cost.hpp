#pragma once

#include "harness/cost.hpp"

namespace bench::ap3 {

steps::Cost cnn_cost();
steps::Cost lstm_cost();

}  // namespace bench::ap3
