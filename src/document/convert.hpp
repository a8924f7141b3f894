#pragma once

#include "value.hpp"

#include <string>

#include <bench/base/diagnostics.hpp>
#include <bench/document/node.hpp>

namespace bench::document {

/// The element tree of a parsed YAML file. `file` stands in the places.
/// @throws Error with the place for what the language or this version of bench does not have
Node convert(const Value& root, const std::string& file, Diagnostics& diagnostics);

}  // namespace bench::document
