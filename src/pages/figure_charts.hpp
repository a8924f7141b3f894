#pragma once

#include "figure_channels.hpp"
#include "figure_plan.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/pages/figure.hpp>

namespace bench::pages {

/// The columns of one quantity in the data of a figure.
struct Measure {
  std::size_t value = 0;
  std::optional<std::size_t> low = {};
  std::optional<std::size_t> high = {};
  /// The numbers behind the medians, each with its row in the data.
  std::vector<std::pair<std::size_t, double>> numbers = {};
};

/// The data of a figure and the roles of its columns.
struct Chart {
  Mark mark = Mark::line;
  Scale x_scale = Scale::automatic;
  Scale y_scale = Scale::automatic;
  Ideal ideal = Ideal::none;
  std::optional<double> baseline_x = {};  ///< Where a proportional ideal is 1.
  Data data;
  std::size_t x = 0;
  std::vector<std::string> x_levels = {};
  std::optional<std::size_t> row = {};
  std::vector<std::string> row_levels = {};
  std::optional<std::size_t> color = {};
  std::vector<std::string> color_levels = {};
  std::optional<std::size_t> facet = {};
  std::vector<std::string> facet_levels = {};
  bool is_facet_combined = false;  ///< Of several columns.
  std::vector<Measure> measures = {};
  std::optional<std::size_t> state = {};
  std::optional<std::size_t> mark_of_state = {};  ///< `OOM`; empty if done.
  std::optional<std::size_t> reason = {};
  std::optional<std::size_t> completed = {};  ///< `4 of 5` if only a part is done.
};

/// A panel for each measure and each value of the facet.
std::vector<Panel> panels_of(const Chart& chart);

}  // namespace bench::pages
