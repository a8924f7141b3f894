#pragma once

#include <bench/base/diagnostics.hpp>
#include <bench/document/node.hpp>
#include <bench/document/parse/value.hpp>

namespace bench::document {

/// The element tree of a parsed YAML file whose includes are resolved.
/// @throws Error with the place for what the language or this version of bench does not have
Node convert(const Value& root, Diagnostics& diagnostics);

}  // namespace bench::document
