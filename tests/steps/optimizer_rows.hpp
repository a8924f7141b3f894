#pragma once

#include "harness/flat_parameters.hpp"
#include "harness/optimizer.hpp"

namespace bench::steps {

/// The rows of an optimizer over all parameters.
inline OptimizerRows rows_of(const FlatParameters& flat) {
  OptimizerRows rows{.weights = flat.values(),
                     .gradients = flat.gradients(),
                     .matrix_numbers = flat.matrix_numbers()};
  for (const FlatParameters::Slot& slot : flat.slots())
    rows.parameters.push_back(slot.range);
  return rows;
}

}  // namespace bench::steps
