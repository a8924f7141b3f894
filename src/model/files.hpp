#pragma once

#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

/// @throws Error if an entry names no file, or has another number of new names than of files
FileSet build_file_set(const document::Node& node);

/// @throws Error if a file has no `in` or `out`, or a substitution no `source`
SubstituteSet build_substitute_set(const document::Node& node);

}  // namespace bench::model
