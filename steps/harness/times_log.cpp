#include "harness/times_log.hpp"

#include "harness/log.hpp"
#include "harness/timers.hpp"

#include <utility>

namespace bench::steps {

void log_times(const Timers& timers) {
  const std::pair<Region, const char*> names[] = {
      {Region::batch, "time_per_step"}, {Region::io, "io"},     {Region::forward, "forward"},
      {Region::backward, "backward"},   {Region::comm, "comm"}, {Region::optimizer, "optimizer"},
      {Region::other, "other"}};
  for (const auto& [region, name] : names)
    log_statistics(name, "s", timers.samples_s(region));
}

}  // namespace bench::steps
