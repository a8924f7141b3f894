#pragma once

#include "section.hpp"

#include <bench/platform/platform.hpp>

namespace bench::platform {

/// A whole platform file. What it does not say is as in `base`, except what belongs to each machine
/// alone: name, tags, description, site, status and notes.
/// @throws Error with the place: see `read_keys`; a word that is not known, a number without a
///         source, a batch system without its commands, a binding without its masks
Platform read_platform(const document::Node& root, Platform base = {});

/// The keys of `machine` and `accelerator`.
Key machine_key(Machine& machine);
Key accelerator_key(Machine& machine);

}  // namespace bench::platform
