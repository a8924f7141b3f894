#include <algorithm>
#include <cstddef>
#include <optional>

#include <bench/energy/core/history.hpp>

namespace bench::energy {
namespace {

std::optional<History::Pair> neighbours(double time_s, std::size_t count, const auto& nth) {
  if (count < 2 || time_s < nth(0).time_s || time_s > nth(count - 1).time_s)
    return std::nullopt;
  std::size_t low = 0;  // not behind the moment
  std::size_t high = count - 1;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (nth(middle).time_s <= time_s ? low : high) = middle;
  }
  return History::Pair{nth(low), nth(high)};
}

}  // namespace

void History::add(const EnergyPoint& point) {
  if (points_.size() < room_)
    points_.push_back(point);
  else {
    if (early_.empty())
      early_.assign(points_.begin(),
                    points_.begin() + static_cast<std::ptrdiff_t>(std::min(room_, early_points)));
    points_[next_] = point;
  }
  next_ = (next_ + 1) % room_;
}

const EnergyPoint& History::nth(std::size_t k) const {
  return points_.size() < room_ ? points_[k] : points_[(next_ + k) % room_];
}

std::optional<History::Pair> History::around(double time_s) const {
  const auto late = neighbours(time_s, points_.size(), [&](std::size_t k) { return nth(k); });
  return late ? late : neighbours(time_s, early_.size(), [&](std::size_t k) { return early_[k]; });
}

std::optional<EnergyPoint> History::first_from(double time_s) const {
  const EnergyPoint* const oldest = early_.empty() ? points_.data() : early_.data();
  if (empty() || last().time_s < time_s)
    return std::nullopt;
  if (oldest->time_s >= time_s)
    return *oldest;
  const auto pair = around(time_s);
  if (!pair)
    return std::nullopt;
  return pair->before.time_s >= time_s ? pair->before : pair->after;
}

std::optional<EnergyPoint> History::last_until(double time_s) const {
  if (empty())
    return std::nullopt;
  if (last().time_s <= time_s)
    return last();
  const auto pair = around(time_s);
  if (!pair)
    return std::nullopt;
  return pair->after.time_s <= time_s ? pair->after : pair->before;
}

}  // namespace bench::energy
