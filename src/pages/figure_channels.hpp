#pragma once

#include "figure_plan.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <bench/pages/figure.hpp>

namespace bench::pages {

using Json = nlohmann::ordered_json;

/// The data of a figure under construction, and the names of its columns in specifications.
class Data {
 public:
  /// @returns its position
  std::size_t add(const std::string& title, const std::string& unit = "") {
    columns_.push_back({title, unit, {}});
    return columns_.size() - 1;
  }
  FigureColumn& at(std::size_t column) { return columns_[column]; }
  const FigureColumn& at(std::size_t column) const { return columns_[column]; }
  std::size_t rows() const { return columns_.empty() ? 0 : columns_.front().values.size(); }
  std::size_t size() const { return columns_.size(); }
  std::vector<FigureColumn> taken() { return std::move(columns_); }

 private:
  std::vector<FigureColumn> columns_;
};

std::string field(std::size_t column);
/// `title [unit]`
std::string label(const FigureColumn& column);

/// An expression for the label of a number in bytes: `32 KiB`. Empty for other units.
/// @param number an expression of it
std::string bytes_label(const FigureColumn& column, const char* number);
/// Gives an axis or a legend of bytes such labels.
void label_bytes(const FigureColumn& column, const char* number, const char* guide, Json& channel);

/// Its distinct numbers, ascending.
std::vector<double> numbers_of(const FigureColumn& column);

/// A d3 format for the numbers in the cells of a heatmap that shows no non-zero number as 0.
/// @param numbers distinct, ascending
std::string cell_format(std::span<const double> numbers);

/// A quantitative channel.
/// @param from where bars begin: at zero
Json measure(const Data& data, std::size_t column, Scale scale, bool from_zero);
/// The quantitative x axis of lines, with its values as ticks if there are few.
Json measure_axis(const Data& data, std::size_t column, Scale scale);
/// A channel of names, in this order.
Json names(const Data& data, std::size_t column, std::span<const std::string> order);
/// A colour for each of the names, with a legend.
Json colors(const Data& data, std::size_t column, std::span<const std::string> order);
/// A tooltip with these columns.
Json tooltip(const Data& data, std::span<const std::size_t> columns);

Json is_valid(std::size_t column);
Json is_equal(std::size_t column, const std::string& text);
/// Selects the rows that are not done.
Json is_not_done(std::size_t state_column);

int longest(std::span<const std::string> texts);

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
