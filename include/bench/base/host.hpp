#pragma once

#include <string>

namespace bench {

/// The name of this machine, as `hostname` prints it.
std::string host_name();

/// The number of CPUs that this process may run on (its affinity mask), at least 1.
int usable_cpus();

}  // namespace bench
