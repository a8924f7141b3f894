#pragma once

#include "section.hpp"

#include <bench/document/node.hpp>
#include <bench/machine/machine.hpp>
#include <bench/machine/platform.hpp>

namespace bench::platform {

/// A whole platform file. Settings that it leaves out come from `base`, except those of each
/// machine alone: name, tags, description, site, status and notes.
/// @throws Error with the place: see `read_keys`; an unknown word, a number without a
///         source, a batch system without its commands, a binding without its masks
Platform read_platform(const document::Node& root, Platform base = {});

/// The keys of `machine` and `accelerator`.
Key machine_key(Machine& machine);
Key accelerator_key(Machine& machine);

}  // namespace bench::platform
