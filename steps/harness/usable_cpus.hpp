#pragma once

namespace bench::steps {

/// How many CPUs the scheduler lets this process use (its affinity mask).
int usable_cpus();

}  // namespace bench::steps
