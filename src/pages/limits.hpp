#pragma once

#include "points.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <bench/pages/plan.hpp>
#include <bench/pages/source.hpp>

namespace bench::report {

/// The values that a figure shows in each dimension, in order.
struct ShownLevels {
  std::vector<std::string> x;
  std::vector<std::string> row;
  std::vector<std::string> color;
  std::vector<std::string> facet;
  std::vector<std::string> notes;  ///< What is left out, one sentence each.
};

/// Keeps the first values of each dimension, as many as are legible on a page: thousands of bars,
/// lines, cells or panels would be unreadable and take seconds to draw. Removes points at other
/// values.
ShownLevels limit(const Source& source, const Plan& plan, std::vector<Point>& points);

}  // namespace bench::report
