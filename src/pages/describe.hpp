#pragma once

#include "points.hpp"

#include <string>
#include <vector>

#include <bench/pages/plan.hpp>
#include <bench/pages/source.hpp>

namespace bench::report {

/// `throughput over batch_size`
std::string title_of(const Source& source, const Plan& plan);

/// Describes the figure in words: its kind and axes, the highest and the lowest value, and the
/// number of failed points.
std::string description_of(const Source& source, const Plan& plan,
                           const std::vector<Point>& points);

}  // namespace bench::report
