#pragma once

#include <map>
#include <string>

#include <bench/platform/platform.hpp>
#include <bench/setup/metadata.hpp>

namespace bench::setup {

/// `jube_platform_...`: the name, and what the platform file says of its nodes and devices, as
/// plain decimal numbers. A device is what programs see as one: where a module shows as two, each
/// has half of its memory and peak. Empty where the file says nothing, or nobody has confirmed it.
/// A run keeps them: what is analysed later shall not depend on what the file says by then, and
/// whoever reads the run may not have it.
Variables platform_variables(const platform::Platform& platform);

}  // namespace bench::setup
