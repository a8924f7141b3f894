#include "envelope.hpp"

#include <cstddef>
#include <vector>

namespace bench::pages {

void Envelope::widen(Stretch& stretch, Point point) {
  if (point.y < stretch.low.y)
    stretch.low = point;
  if (point.y > stretch.high.y)
    stretch.high = point;
}

void Envelope::add(Point point) {
  last_ = point;
  if (!stretches_.empty() && in_last_ < points_per_stretch_) {
    widen(stretches_.back(), point);
    ++in_last_;
    return;
  }
  if (stretches_.size() == most_stretches_) {
    for (std::size_t k = 0; k < most_stretches_ / 2; ++k) {
      stretches_[k] = stretches_[2 * k];
      widen(stretches_[k], stretches_[2 * k + 1].low);
      widen(stretches_[k], stretches_[2 * k + 1].high);
    }
    stretches_.resize(most_stretches_ / 2);
    points_per_stretch_ *= 2;
  }
  stretches_.push_back({point, point});
  in_last_ = 1;
}

std::vector<Envelope::Point> Envelope::points() const {
  std::vector<Point> all;
  for (const Stretch& stretch : stretches_) {
    const bool is_low_first = stretch.low.x <= stretch.high.x;
    all.push_back(is_low_first ? stretch.low : stretch.high);
    if (stretch.low.x != stretch.high.x)
      all.push_back(is_low_first ? stretch.high : stretch.low);
  }
  if (last_ && all.back().x != last_->x)
    all.push_back(*last_);
  return all;
}

}  // namespace bench::pages
