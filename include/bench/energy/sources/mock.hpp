#pragma once

#include <memory>
#include <string>

#include <bench/energy/core/power_source.hpp>

namespace bench::energy {

/// An invented device whose energy is known in closed form, with power and counter; t is the time
/// since its first reading, just before the program starts:
///
/// - `constant=100W`: E(t) = 100 W * t
/// - `ramp=50W/20W`: 50 W rising by 20 W every second, E(t) = 50 W * t + 20 W/s * t^2 / 2
/// - `square=100W/300W/50ms`: 100 W for 50 ms, 300 W for 50 ms, and again
/// - `lost=100W/300ms`: 100 W, and after 300 ms the device is gone
///
/// @throws bench::Error if the text is none of these
std::unique_ptr<PowerSource> open_mock(const std::string& shape);

}  // namespace bench::energy
