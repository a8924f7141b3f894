#pragma once

#include <optional>
#include <string>
#include <vector>

#include <bench/space/run.hpp>

namespace bench::insight {

/// The tag expressions of the input file under which a parameter has a value, each once; those on
/// the way to it are joined by `+`. Nothing where the file has changed since the run was made, or
/// takes in others, which may have: it would tell of another benchmark.
/// @param value none: any
std::vector<std::string> tags_giving(const space::Run& run, const std::string& parameter,
                                     const std::optional<std::string>& value);

}  // namespace bench::insight
