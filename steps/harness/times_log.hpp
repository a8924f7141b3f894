#pragma once

#include "harness/timers.hpp"

namespace bench::steps {

/// Prints min, mean, median, max and deviation of the regions in seconds, `time_per_step_mean_s=`
/// and so on: of the steps, and of those parts that they have.
void log_times(const Timers& timers);

}  // namespace bench::steps
