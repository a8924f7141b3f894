#include <bench/energy/history.hpp>

namespace bench::energy {

void History::add(const EnergyPoint& point) {
  if (points_.size() < room_)
    points_.push_back(point);
  else
    points_[next_] = point;
  next_ = (next_ + 1) % room_;
}

const EnergyPoint& History::nth(std::size_t k) const {
  return points_.size() < room_ ? points_[k] : points_[(next_ + k) % room_];
}

std::optional<History::Pair> History::around(double time_s) const {
  if (points_.size() < 2 || time_s < nth(0).time_s || time_s > last().time_s)
    return std::nullopt;
  std::size_t low = 0;  // not behind the moment
  std::size_t high = points_.size() - 1;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (nth(middle).time_s <= time_s ? low : high) = middle;
  }
  return Pair{nth(low), nth(high)};
}

}  // namespace bench::energy
