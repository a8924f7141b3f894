#include "vision/schedule.hpp"

#include <algorithm>
#include <cmath>

namespace bench::vision {

double Schedule::learning_rate(double epochs) const {
  const auto decays =
      std::ranges::count_if(decay_epochs, [&](double from) { return epochs >= from; });
  const double rise = epochs < warmup_epochs ? epochs / warmup_epochs : 1;
  return highest * rise * std::pow(0.1, static_cast<double>(decays));
}

}  // namespace bench::vision
