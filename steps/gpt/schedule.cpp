#include "gpt/schedule.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace bench::gpt {

double Schedule::learning_rate(std::int64_t samples) const {
  if (samples <= warmup_samples && warmup_samples > 0)
    return highest * static_cast<double>(samples) / static_cast<double>(warmup_samples);
  if (samples >= decay_samples)
    return lowest;
  const double share = static_cast<double>(samples - warmup_samples) /
                       static_cast<double>(decay_samples - warmup_samples);
  return lowest + (highest - lowest) * (std::cos(std::numbers::pi * share) + 1) / 2;
}

}  // namespace bench::gpt
