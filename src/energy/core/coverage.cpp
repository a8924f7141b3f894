#include <algorithm>
#include <cstddef>

#include <bench/energy/core/coverage.hpp>

namespace bench::energy {
namespace {

/// So many are kept one by one, for regions.
constexpr std::size_t most_holes = 1024;

}  // namespace

void Coverage::note_hole(double begin_s, double end_s) {
  begin_s = std::max(begin_s, 0.0);
  if (end_s <= begin_s)
    return;
  holes_.push_back({begin_s, end_s});
  if (holes_.size() <= most_holes)
    return;
  older_s_ += holes_.front().end_s - holes_.front().begin_s;
  holes_.pop_front();
}

void Coverage::add(double time_s) {
  const double before_s = last_s_.value_or(0);
  if (time_s - before_s > longest_gap_s_)
    note_hole(before_s, time_s);
  last_s_ = std::max(time_s, before_s);
}

void Coverage::add_difference(double time_s, double lost_s) {
  if (!last_s_)
    return add(time_s);
  if (lost_s > 0)
    note_hole(std::max(time_s - lost_s, *last_s_), time_s);
  last_s_ = std::max(time_s, *last_s_);
}

double Coverage::missing_until_s(double end_s) const {
  double missing_s = older_s_;
  for (const Hole& hole : holes_)
    missing_s += std::max(0.0, std::min(hole.end_s, end_s) - hole.begin_s);
  const double last_s = std::max(last_s_.value_or(0), 0.0);
  if (end_s - last_s > longest_gap_s_)
    missing_s += end_s - last_s;
  return missing_s;
}

}  // namespace bench::energy
