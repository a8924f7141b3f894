#pragma once

#include <chrono>
#include <variant>

#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/sampler.hpp>

namespace bench::energy {

/// Measures the node before the program starts, for `duration`, with every signal blocked.
/// @returns the power, or the signal that ended the wait and is to end this process
std::variant<IdlePower, int> measure_idle_power(SamplerSettings settings,
                                                std::chrono::nanoseconds duration,
                                                std::chrono::nanoseconds start_patience);

/// Says of each channel what it drew idle, as far as that is known.
void add_idle_power(Measurement& measurement, const IdlePower& idle);

}  // namespace bench::energy
