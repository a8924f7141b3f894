#pragma once

#include "figure_plan.hpp"
#include "figure_source.hpp"

#include <string>
#include <vector>

#include <bench/pages/figure.hpp>

namespace bench::pages {

/// Draws a plan.
Figure draw(const Source& source, const Plan& plan);

/// `text` in lower case with `-` for everything but letters and digits; never empty.
std::string slug_of(const std::string& text);

/// Appends a number to ids that occur twice.
void make_ids_unique(std::vector<Figure>& figures);

}  // namespace bench::pages
