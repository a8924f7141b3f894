#include "ap6/part_timer.hpp"

#include <cstdint>
#include <utility>

namespace bench::ap6 {

double PartTimer::take_mean_s() {
  clock_->wait();
  const std::int64_t parts = std::exchange(parts_, 0);
  double sum_s = 0;
  for (std::int64_t i = 0; i < parts; ++i) {
    const double begin_s = clock_->take_oldest();
    sum_s += clock_->take_oldest() - begin_s;
  }
  return parts > 0 ? sum_s / static_cast<double>(parts) : 0;
}

}  // namespace bench::ap6
