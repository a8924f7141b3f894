#include "harness/loss_scale.hpp"

#include <algorithm>

namespace bench::steps {

bool DynamicLossScale::update(bool finite) {
  if (finite) {
    if (++finite_in_a_row_ == options_.window) {
      finite_in_a_row_ = 0;
      patience_ = options_.hysteresis;
      scale_ *= 2;
    }
    return true;
  }
  finite_in_a_row_ = 0;
  if (--patience_ > 0)
    return true;
  const bool smaller = scale_ > options_.least;
  scale_ = std::max(scale_ / 2, options_.least);
  return smaller;
}

}  // namespace bench::steps
