#pragma once

#include "points.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <bench/report/figures/plan.hpp>
#include <bench/report/figures/source.hpp>

namespace bench::report {

/// The values of the dimensions of a figure that it shows, in their order.
struct ShownLevels {
  std::vector<std::string> x;
  std::vector<std::string> row;
  std::vector<std::string> color;
  std::vector<std::string> facet;
  std::vector<std::string> notes;  ///< What is left out, a sentence each.
};

/// The first values of each dimension, as many as can be told apart on a page: thousands of bars,
/// lines, cells or panels would say nothing, and take seconds to draw. Points at other values are
/// removed.
ShownLevels limit(const Source& source, const Plan& plan, std::vector<Point>& points);

}  // namespace bench::report
