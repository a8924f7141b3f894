#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include <bench/energy/sources/thermal.hpp>

namespace bench::energy {

/// What a wait for a temperature came to.
struct ThermalWait {
  int signal = 0;       ///< Ended the wait, and is to end the process.
  std::string failure;  ///< Why the program starts although it is too warm; one line.
};

/// Waits for at most ten minutes, with every signal blocked, for what is wished of the hottest of
/// the processors and of the GPUs that this process may use.
/// @throws bench::Error if no temperature can be read, and one is needed
ThermalWait wait_for_temperature(const ThermalCondition& condition,
                                 const std::filesystem::path& sysfs);

}  // namespace bench::energy
