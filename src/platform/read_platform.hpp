#pragma once

#include "section.hpp"

#include <bench/platform/platform.hpp>

namespace bench::platform {

/// A whole platform file.
/// @throws Error with the place: see `read_keys`; a word that is not known, a number without a
///         source, a batch system without its commands, a binding without its masks
Platform read_platform(const document::Node& root);

/// The keys of `machine` and `accelerator`.
Key machine_key(Machine& machine);
Key accelerator_key(Machine& machine);

}  // namespace bench::platform
