#pragma once

#include "harness/saved_state.hpp"

namespace bench::steps {

/// What an fp16 loss is multiplied by, so that small gradients do not vanish: as large as the
/// gradients stay finite.
///
/// A step with a gradient that is not finite is skipped; after `hysteresis` of them, without
/// `window` finite ones in a row since, the scale is halved, but not below `least`. After each
/// `window` finite ones in a row it is doubled. Source: Micikevicius et al., Mixed Precision
/// Training (arXiv:1710.03740), section 3.2, with the hysteresis of Megatron-LM.
class DynamicLossScale {
 public:
  struct Options {
    double initial = 4096;
    double least = 1;
    int window = 500;
    int hysteresis = 2;
  };

  explicit DynamicLossScale(const Options& options)
      : options_(options), scale_(options.initial), patience_(options.hysteresis) {}

  double scale() const { return scale_; }

  /// Takes whether all gradients of a step were finite.
  /// @returns whether training can go on: false if they were not with the least scale
  bool update(bool finite);

  void save(SavedState& state) const;
  void load(const SavedState& state);

 private:
  Options options_;
  double scale_;
  int patience_;
  int finite_in_a_row_ = 0;
};

}  // namespace bench::steps
