#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace bench::energy {

/// What was known of a channel at a moment: power, and the energy since some fixed moment.
struct EnergyPoint {
  double time_s = 0;
  double power_w = 0;
  double energy_j = 0;
};

/// The latest points of a channel, as many as there is room for: the edge of a region may arrive
/// later than the samples around it.
class History {
 public:
  struct Pair {
    EnergyPoint before;
    EnergyPoint after;
  };

  explicit History(std::size_t room = 256) : room_(room) {}

  /// Times increase.
  void add(const EnergyPoint& point);
  const EnergyPoint& last() const { return points_[(next_ + points_.size() - 1) % points_.size()]; }

  /// The neighbours of a moment; nothing where it lies behind the last point, or before the oldest
  /// that is kept.
  std::optional<Pair> around(double time_s) const;

 private:
  const EnergyPoint& nth(std::size_t k) const;  ///< From the oldest on.

  std::size_t room_;
  std::vector<EnergyPoint> points_;  ///< A ring once it is full.
  std::size_t next_ = 0;
};

}  // namespace bench::energy
