#pragma once

#include "variables.hpp"

#include <bench/platform/platform.hpp>

namespace bench::engine {

/// `jube_platform_...`: the name, and what the platform file says of its nodes and devices, as
/// plain decimal numbers. A device is what programs see as one: where a module shows as two, each
/// has half of its memory and peak. Empty where the file says nothing, or nobody has confirmed it.
Variables platform_variables(const platform::Platform& platform);

}  // namespace bench::engine
