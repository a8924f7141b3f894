#pragma once

#include "ap5/sample.hpp"
#include "harness/cost.hpp"

#include <cstdint>

namespace bench::ap5 {

/// The cost of a step: a few updates of the critic, then one of the generator, each on samples of
/// its own.
class WganCost {
 public:
  /// @param grid height and width are multiples of `grid_divisor`
  /// @param critic_updates of a step
  WganCost(const Grid& grid, std::int64_t critic_updates);

  const steps::Cost& generator() const { return generator_; }
  const steps::Cost& critic() const { return critic_; }
  std::int64_t trainable_parameters() const {
    return generator_.trainable_parameters() + critic_.trainable_parameters();
  }
  std::int64_t non_trainable_parameters() const {
    return generator_.non_trainable_parameters() + critic_.non_trainable_parameters();
  }

  /// Operations for each sample on which the generator is trained, from the multiply-adds G and C
  /// of the forward passes:
  ///
  ///     2 (updates (G + 6 C + 6 C) + 3 G + 2 C)
  ///
  /// An update of the critic passes samples forward through the generator, forward and backward
  /// through the critic (real and generated ones, 6 C), and through the critic's penalty, whose
  /// second derivative costs about as much. The generator's passes go through the critic, forward
  /// and to its input.
  std::int64_t training_flops_per_sample() const;
  /// Read for each sample on which the generator is trained, those of the critic included.
  std::int64_t step_bytes_per_sample() const;

  /// Parameters of both networks and of each, and what a sample costs, as lines `name=value`.
  void log() const;

 private:
  std::int64_t critic_updates_;
  steps::Cost generator_;
  steps::Cost critic_;
};

}  // namespace bench::ap5
