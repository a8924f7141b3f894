#pragma once

#include <string>

#include <bench/export/crate/secrets.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::crate {

/// Knows the values of variables and parameters whose names say that they are secrets: of this
/// process, since programs may have printed them, and of the run.
Scrubber scrubber_of(const workspace::Workspace& workspace);

/// The value of a parameter, as others may see it.
std::string without_secrets(Scrubber& scrubber, const std::string& name, const std::string& value);

}  // namespace bench::crate
