#pragma once

#include <cstdint>

namespace bench::gpt {

/// Learning rate over the samples trained on: rises linearly from 0, then falls along half a cosine
/// to its end. Loshchilov and Hutter, SGDR (arXiv:1608.03983), eq. 5, with one cycle.
struct Schedule {
  double highest = 1e-4;
  double lowest = 1e-5;
  std::int64_t warmup_samples = 216'320;
  std::int64_t decay_samples = 128'953'125;  ///< Where it arrives at the lowest.

  double learning_rate(std::int64_t samples) const;
};

}  // namespace bench::gpt
