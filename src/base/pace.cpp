#include <algorithm>
#include <optional>

#include <bench/base/pace.hpp>

namespace bench {

void Pace::note(double now_s, long long ended, long long going) {
  if (!told_) {
    told_ = true;
    ended_before_ = ended_ = ended;
    begun_s_ = now_s;
  } else if (going_ > 0) {
    spent_s_ += static_cast<double>(going_) * (now_s - at_s_);
  } else if (ended > ended_) {
    // It began and ended between two looks.
    spent_s_ += static_cast<double>(ended - ended_) * (now_s - at_s_);
  } else if (ended_ == ended_before_) {
    begun_s_ = now_s;  // still waiting for the first
  }
  if (ended > ended_) {
    last_end_s_ = now_s;
    spent_at_last_end_s_ = spent_s_;
  }
  at_s_ = now_s;
  ended_ = ended;
  going_ = going;
}

std::optional<double> Pace::left_s(double now_s, long long left) const {
  const auto ended = static_cast<double>(ended_ - ended_before_);
  const double passed_s = last_end_s_ - begun_s_.value_or(0);
  if (ended <= 0 || passed_s <= 0 || spent_at_last_end_s_ <= 0)
    return std::nullopt;
  const double each_s = std::min(passed_s, spent_at_last_end_s_ / ended);
  const double side_by_side =
      going_ > 0 ? static_cast<double>(going_) : spent_at_last_end_s_ / passed_s;
  const double rounds = std::max(static_cast<double>(left) / side_by_side, left > 0 ? 1.0 : 0.0);
  return std::max(0.0, rounds * each_s - (now_s - last_end_s_));
}

}  // namespace bench
