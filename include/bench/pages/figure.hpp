#pragma once

#include <optional>
#include <string>
#include <vector>

#include <bench/base/value.hpp>

namespace bench::pages {

/// A column of a figure's data. The specification names the columns `c0`, `c1` and so on, so that
/// no text of a run is ever part of an expression.
struct FigureColumn {
  std::string title;
  std::string unit;
  std::vector<std::optional<Value>> values;
};

/// One of the charts of a figure, placed side by side if there is room.
struct Panel {
  std::string title;          ///< May be empty.
  std::string specification;  ///< Vega-Lite as JSON, without data and width.
  int legend_characters = 0;  ///< Of the longest entry of its legend; 0: it has none.
};

/// A figure of a report.
struct Figure {
  std::string id;  ///< Valid as a file name; unique in a report.
  std::string title;
  std::string description;  ///< Text alternative of the figure.
  std::vector<FigureColumn> columns;
  std::vector<Panel> panels;
  std::vector<std::string> notes;
};

}  // namespace bench::pages
