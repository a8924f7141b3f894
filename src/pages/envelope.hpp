#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace bench::pages {

/// A line that is reduced while it grows, without changing its plot: keeps the lowest and the
/// highest point of each stretch, and the last of all.
class Envelope {
 public:
  struct Point {
    double x = 0;
    double y = 0;
  };

  /// @param most_points at least 5
  explicit Envelope(std::size_t most_points) : most_stretches_((most_points - 1) / 4 * 2) {}

  /// @param point right of the others
  void add(Point point);

  /// By x.
  std::vector<Point> points() const;

 private:
  struct Stretch {
    Point low;
    Point high;
  };
  static void widen(Stretch& stretch, Point point);

  std::size_t most_stretches_;  ///< Even, so that pairs can be merged.
  std::vector<Stretch> stretches_;
  std::size_t in_last_ = 0;  ///< Points of the last stretch.
  std::size_t points_per_stretch_ = 1;
  std::optional<Point> last_;
};

}  // namespace bench::pages
