#pragma once

#include <string>
#include <vector>

#include <bench/run/preview.hpp>
#include <bench/space/run.hpp>

namespace bench::cli {

/// What a run would do: what each step takes, then its workpackages with what they execute.
/// @param all every workpackage; else the first combinations of each step, and the count of the
///        others
std::string preview_text(const setup::Run& run, const std::vector<engine::Preview>& previews,
                         bool all);

}  // namespace bench::cli
