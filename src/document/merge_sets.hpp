#pragma once

#include <bench/document/node.hpp>

namespace bench::document {

/// A set with the entries of `base`, changed by its own: JUBE's rules for `init_with`. Parameters
/// and patterns of the same name take the place of the base's, so do `sub`s of the same source and
/// `iofile`s of the same `out`; all else is appended.
/// @throws Error with the place if both say `duplicate` and differ
Node merge_sets(const Node& base, const Node& own);

}  // namespace bench::document
