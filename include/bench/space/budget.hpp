#pragma once

#include <string>

#include <bench/machine/platform.hpp>
#include <bench/space/run.hpp>

namespace bench::setup {

/// A budget in node hours: `50nh`, or `3200ch` core hours or `200gh` GPU hours on a platform that
/// knows how many of them a node has.
/// @throws Error for a text that is none of these, or that the platform cannot convert
double parse_budget_h(const std::string& text, const platform::Platform& platform);

/// Gives a run a budget. Jobs are then submitted only while the time of all jobs, at most their
/// limits for those that have not ended, stays within it.
/// @throws Error as `parse_budget_h`, and where the platform has no batch system
void set_budget(const std::string& text, Run& run);

}  // namespace bench::setup
