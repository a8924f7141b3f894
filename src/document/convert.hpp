#pragma once

#include "value.hpp"

#include <bench/base/diagnostics.hpp>
#include <bench/document/node.hpp>

namespace bench::document {

/// The element tree of a parsed YAML file whose includes are resolved.
/// @throws Error with the place for what the language or this version of bench does not have
/// @param is_own the file is known to be written for bench, whatever it uses
Node convert(const Value& root, Diagnostics& diagnostics, bool is_own = false);

}  // namespace bench::document
