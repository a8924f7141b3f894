#pragma once

#include "points.hpp"

#include <string>
#include <vector>

#include <bench/report/figures/plan.hpp>
#include <bench/report/figures/source.hpp>

namespace bench::report {

/// `throughput over batch_size`
std::string title_of(const Source& source, const Plan& plan);

/// What a person sees in the figure, in words: its kind and axes, the highest and the lowest value,
/// and how many points failed.
std::string description_of(const Source& source, const Plan& plan,
                           const std::vector<Point>& points);

}  // namespace bench::report
