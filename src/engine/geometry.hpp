#pragma once

#include "scope.hpp"

#include <bench/engine/cost.hpp>

namespace bench::engine {

/// What a workpackage of a batch step asks for. A step with GPUs that says nothing of threads has
/// the platform's cores per device.
/// @throws Error with the place of a number or a length of time that is none, or of a pack whose
///         workpackages the platform cannot keep apart
Geometry geometry_of(const Scope& scope);

/// Whether the commands start their programs by the platform's launcher: `$jube_starter`.
bool starts_programs(const Scope& scope);

}  // namespace bench::engine
