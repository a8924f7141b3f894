#pragma once

#include <array>
#include <cstddef>
#include <optional>

namespace bench::energy {

/// What was known of a channel at a moment: power, and the energy since some fixed moment.
struct EnergyPoint {
  double time_s = 0;
  double power_w = 0;
  double energy_j = 0;
};

/// The latest points of a channel in constant memory: enough for the edge of a region to arrive
/// later than the samples around it.
class History {
 public:
  struct Pair {
    EnergyPoint before;
    EnergyPoint after;
  };

  /// Times increase.
  void add(const EnergyPoint& point);
  bool empty() const { return size_ == 0; }
  const EnergyPoint& last() const { return points_[(next_ + capacity - 1) % capacity]; }

  /// The neighbours of a moment; nothing where it lies behind the last point, or before the oldest
  /// that is kept.
  std::optional<Pair> around(double time_s) const;

 private:
  static constexpr std::size_t capacity = 256;
  const EnergyPoint& nth(std::size_t k) const;  ///< From the oldest on.

  std::array<EnergyPoint, capacity> points_{};
  std::size_t next_ = 0;
  std::size_t size_ = 0;
};

}  // namespace bench::energy
