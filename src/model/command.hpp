#pragma once

#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

/// A `do` of a step or a `prepare` of a file set.
/// @throws Error if `shared` is neither true nor false
Command build_command(const document::Node& node);

}  // namespace bench::model
