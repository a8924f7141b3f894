#pragma once

#include <bench/base/diagnostics.hpp>
#include <bench/space/input.hpp>

namespace bench::run {

/// Looks for mistakes that would otherwise show only while the benchmarks run, or when they are
/// analysed: unknown names, regular expressions that do not compile, formats that fit nothing, and
/// sources of file sets that do not exist.
/// @throws Error with the place of the first one that is certain
void check_input(const space::Input& input, Diagnostics& diagnostics);

}  // namespace bench::run
