#include "harness/loss_scale.hpp"

#include "harness/saved_state.hpp"

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

void DynamicLossScale::save(SavedState& state) const {
  state.set_number("loss_scale", scale_);
  state.set_number("loss_scale_patience", patience_);
  state.set_number("loss_scale_finite_in_a_row", finite_in_a_row_);
}

void DynamicLossScale::load(const SavedState& state) {
  scale_ = state.number("loss_scale");
  patience_ = static_cast<int>(state.number("loss_scale_patience"));
  finite_in_a_row_ = static_cast<int>(state.number("loss_scale_finite_in_a_row"));
}

}  // namespace bench::steps
