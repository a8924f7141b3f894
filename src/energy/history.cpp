#include <algorithm>

#include <bench/energy/history.hpp>

namespace bench::energy {

void History::add(const EnergyPoint& point) {
  points_[next_] = point;
  next_ = (next_ + 1) % capacity;
  size_ = std::min(size_ + 1, capacity);
}

const EnergyPoint& History::nth(std::size_t k) const {
  return points_[(next_ + capacity - size_ + k) % capacity];
}

std::optional<History::Pair> History::around(double time_s) const {
  if (size_ < 2 || time_s < nth(0).time_s || time_s > last().time_s)
    return std::nullopt;
  std::size_t low = 0;  // not behind the moment
  std::size_t high = size_ - 1;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (nth(middle).time_s <= time_s ? low : high) = middle;
  }
  return Pair{nth(low), nth(high)};
}

}  // namespace bench::energy
