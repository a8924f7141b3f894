#include <algorithm>

#include <bench/energy/sources/counter_schedule.hpp>

namespace bench::energy {

void CounterSchedule::add(double time_s, double value_j) {
  if (!value_j_) {
    earliest_s_ = time_s - period_s_;
    latest_s_ = time_s;
  } else if (value_j != *value_j_) {
    // A period after the movement before, as far as the readings allow that.
    earliest_s_ =
        std::max({last_read_s_, time_s - period_s_, std::min(earliest_s_ + period_s_, time_s)});
    latest_s_ = std::min(latest_s_ + period_s_, time_s);
    if (latest_s_ < earliest_s_)
      latest_s_ = time_s;
  }
  value_j_ = value_j;
  last_read_s_ = time_s;
}

}  // namespace bench::energy
