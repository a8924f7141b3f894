#include "figures.hpp"

#include "read.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

using document::Node;

namespace {

const std::map<std::string, Figure::Mark>& marks() {
  static const std::map<std::string, Figure::Mark> words{{"line", Figure::Mark::line},
                                                         {"bar", Figure::Mark::bar},
                                                         {"heatmap", Figure::Mark::heatmap},
                                                         {"point", Figure::Mark::point}};
  return words;
}

const std::map<std::string, Figure::Scale>& scales() {
  static const std::map<std::string, Figure::Scale> words{
      {"linear", Figure::Scale::linear}, {"log", Figure::Scale::log}, {"fit", Figure::Scale::fit}};
  return words;
}

/// @throws Error unless the figure says which table, or there is only one
const Table& table_of(const Node& node, const std::vector<Table>& tables) {
  std::vector<std::string> names;
  for (const Table& table : tables)
    names.push_back(table.name);
  const std::string name = attribute(node, "table");
  if (name.empty() && tables.size() == 1)
    return tables.front();
  if (name.empty())
    throw Error("this figure does not name its table",
                names.empty() ? "add a table to this result" : "tables: " + join(names, ", "),
                node.place);
  const auto found = std::ranges::find(tables, name, &Table::name);
  if (found == tables.end())
    throw Error(fmt::format("figure of an unknown table '{}'", name),
                names.empty() ? "this result has no table" : suggestion(name, names),
                place_of(node, "table"));
  return *found;
}

/// @throws Error unless each is the title or name of a column
void check_columns_of(const Node& node, const char* key, const std::vector<std::string>& columns,
                      const Table& table) {
  std::vector<std::string> known;
  for (const Column& column : table.columns) {
    known.push_back(column.title.value_or(column.name));
    if (column.name != known.back())
      known.push_back(column.name);
  }
  if (!table.cdf.empty())
    known.insert(known.end(), {table.cdf, "share"});
  for (const std::string& column : columns)
    if (std::ranges::find(known, column) == known.end())
      throw Error(fmt::format("table '{}' has no column '{}'", table.name, column),
                  suggestion(column, known, "columns: "), place_of(node, key));
}

Figure build_figure(const Node& node, const std::vector<Table>& tables) {
  const Table& table = table_of(node, tables);
  Figure figure;
  figure.table = table.name;
  figure.mark = one_of(node, "mark", marks(), Figure::Mark::automatic);
  figure.x = attribute(node, "x");
  figure.y = split_names(attribute(node, "y"));
  figure.color = split_names(attribute(node, "color"));
  figure.row = attribute(node, "row");
  figure.facet = attribute(node, "facet");
  figure.x_scale = one_of(node, "x_scale", scales(), Figure::Scale::automatic);
  figure.scale = one_of(node, "scale", scales(), Figure::Scale::automatic);
  figure.title = attribute(node, "title");
  figure.place = node.place;
  if (figure.x.empty() || figure.y.empty())
    throw Error(fmt::format("this figure has no `{}`", figure.x.empty() ? "x" : "y"),
                "a figure needs the columns x and y", node.place);
  if ((figure.mark == Figure::Mark::heatmap) == figure.row.empty())
    throw Error(
        figure.row.empty() ? "a heatmap needs `row`, its other axis" : "only a heatmap has `row`",
        figure.row.empty() ? "" : "add `mark: heatmap`, or use `color` or `facet`",
        figure.row.empty() ? place_of(node, "mark") : place_of(node, "row"));
  if (figure.mark == Figure::Mark::heatmap && !figure.color.empty())
    throw Error("a heatmap has no `color`: its colours show y", "use `facet`",
                place_of(node, "color"));
  check_columns_of(node, "x", {figure.x}, table);
  check_columns_of(node, "y", figure.y, table);
  check_columns_of(node, "color", figure.color, table);
  for (const auto& [key, column] : {std::pair("row", figure.row), {"facet", figure.facet}})
    if (!column.empty())
      check_columns_of(node, key, {column}, table);
  return figure;
}

}  // namespace

std::vector<Figure> build_figures(const Node& result, const std::vector<Table>& tables) {
  std::vector<Figure> figures;
  for (const Node* node : result.all("figure"))
    figures.push_back(build_figure(*node, tables));
  return figures;
}

}  // namespace bench::model
