#pragma once

#include <optional>
#include <string>

#include <bench/workspace/workpackage.hpp>

namespace bench::workspace {

/// An object of texts, in the order of expansion.
std::string to_json(const Parameters& parameters);

/// An object of texts and nulls; nothing for no changes.
std::optional<std::string> to_json(const EnvironmentChanges& changes);

/// Builds no tree in between, which would take most of the time that reading 100,000 workpackages
/// takes.
/// @throws Error if it is not an object of texts
Parameters parameters_from(const std::string& json);

}  // namespace bench::workspace
