#pragma once

#include <string>

#include <bench/share/secrets.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::crate {

/// A scrubber that knows the values of all variables and parameters with secret names: those of the
/// run, and of this process, since programs may have printed them.
Scrubber scrubber_of(const workspace::Workspace& workspace);

/// The value of a parameter without its secrets.
std::string without_secrets(Scrubber& scrubber, const std::string& name, const std::string& value);

}  // namespace bench::crate
