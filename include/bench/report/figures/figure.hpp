#pragma once

#include <optional>
#include <string>
#include <vector>

#include <bench/base/value.hpp>

namespace bench::report {

/// A column of the data that a figure shows; its specification calls the first `c0`, and so on, so
/// that no text of a run is ever part of an expression.
struct FigureColumn {
  std::string title;
  std::string unit;
  std::vector<std::optional<Value>> values;
};

/// One of the charts of a figure, side by side where there is room.
struct Panel {
  std::string title;          ///< May be empty.
  std::string specification;  ///< Vega-Lite as JSON, without data and width.
  int legend_characters = 0;  ///< Of the longest entry of its legend; 0: it has none.
};

/// A figure of a report.
struct Figure {
  std::string id;  ///< Fit for a file's name; unique in a report.
  std::string title;
  std::string description;  ///< What it shows, in place of it.
  std::vector<FigureColumn> columns;
  std::vector<Panel> panels;
  std::vector<std::string> notes;
};

}  // namespace bench::report
