#pragma once

#include <string>
#include <vector>

#include <bench/engine/cost.hpp>
#include <bench/engine/run.hpp>

namespace bench::engine {

/// The fact of a run that holds its budget, in node hours; absent without one.
inline constexpr const char* budget_fact = "budget_nh";

/// A budget in node hours: `50nh`, or `3200ch` core hours or `200gh` GPU hours on a platform that
/// knows how many of them a node has.
/// @throws Error for a text that is none of these, or that the platform cannot convert
double parse_budget_h(const std::string& text, const platform::Platform& platform);

/// Gives a run a budget. The jobs of a batch system then go out only as long as what all of them
/// took, or may take where they have not ended, stays within it.
/// @throws Error as `parse_budget_h`, and where the platform has no batch system
void set_budget(const std::string& text, Run& run);

/// Refuses a run whose jobs may take more than its budget, if it has one.
/// @throws Error with what each step takes; with the place of a step whose jobs have no time limit
void check_budget(const Run& run, const std::vector<StepCost>& costs);

}  // namespace bench::engine
