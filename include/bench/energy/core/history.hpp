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

/// The latest points of a channel, as many as there is room for, since the edge of a region may
/// arrive later than the samples around it; and the first ones, since a counter's energy at the
/// start of a run is known once the counter has moved.
class History {
 public:
  struct Pair {
    EnergyPoint before;
    EnergyPoint after;
  };

  explicit History(std::size_t room = 256) : room_(room) {}

  /// How many of the first points stay.
  static constexpr std::size_t early_points = 256;

  /// Times increase.
  void add(const EnergyPoint& point);
  bool empty() const { return points_.empty(); }
  const EnergyPoint& last() const { return points_[(next_ + points_.size() - 1) % points_.size()]; }

  /// The neighbours of a moment; nothing where it lies behind the last point, or among those that
  /// were dropped.
  std::optional<Pair> around(double time_s) const;

  /// The first point from a moment on, and the last one up to it.
  std::optional<EnergyPoint> first_from(double time_s) const;
  std::optional<EnergyPoint> last_until(double time_s) const;

 private:
  const EnergyPoint& nth(std::size_t k) const;  ///< From the oldest of the latest on.

  std::size_t room_;
  std::vector<EnergyPoint> early_;   ///< The first points, once the ring has lost some.
  std::vector<EnergyPoint> points_;  ///< A ring once it is full.
  std::size_t next_ = 0;
};

}  // namespace bench::energy
