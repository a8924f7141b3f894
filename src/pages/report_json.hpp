#pragma once

#include <string>
#include <vector>

#include <bench/pages/figure.hpp>

namespace bench::pages {

/// Figures alone, as in `content_of`, and notes below them.
std::string figures_of(const std::vector<Figure>& figures,
                       const std::vector<std::string>& notes = {});

}  // namespace bench::pages
