#pragma once

#include <bench/machine/platform.hpp>
#include <bench/space/metadata.hpp>

namespace bench::space {

/// `jube_platform_...`: the name, and what the platform file says of its nodes and devices, as
/// plain decimal numbers. A device is what programs see as one: where a module shows as two, each
/// has half of its memory and peak. Empty where the file says nothing, or nobody has confirmed it.
/// A run records them: a later analysis must not depend on the platform file, which may have
/// changed or be absent.
Variables platform_variables(const machine::Platform& platform);

}  // namespace bench::space
