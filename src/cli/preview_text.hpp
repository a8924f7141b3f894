#pragma once

#include <string>
#include <vector>

#include <bench/engine/preview.hpp>
#include <bench/engine/run.hpp>

namespace bench::cli {

/// What a run would do: what each step takes, then its workpackages with what they execute.
/// @param all every workpackage; else the first of each step, and the count of the others
std::string preview_text(const engine::Run& run, const std::vector<engine::Preview>& previews,
                         bool all);

/// What each step takes of a batch system, as a table with a sum.
std::string costs_text(const std::vector<engine::StepCost>& costs);

/// `1.5`, `20000`: node hours, to three digits where there are no more before the point.
std::string hours_text(double hours);

}  // namespace bench::cli
