#include "read.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/elements.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {
namespace {

using document::Node;

/// That of its column or key: the metric; the title, else the formula.
std::string name_of(const Calculation& calculation, const std::string& title) {
  if (!calculation.metric.empty())
    return calculation.metric;
  return title.empty() ? calculation.formula : title;
}

/// What a column and a key have in common.
Column build_values(const Node& node, std::optional<std::string> title) {
  Column column;
  column.name = strip(node.text);
  column.title = std::move(title);
  column.format = attribute(node, "format");
  column.place = node.text_place;
  column.unit = attribute(node, "unit");
  column.unit_place = place_of(node, "unit");
  column.calculation = build_calculation(node);
  if (column.calculation)
    column.name = name_of(*column.calculation, column.title.value_or(""));
  if (column.name.empty())
    throw Error(Id::missing_key, fmt::format("this {} is empty", node.name),
                "write the name of a parameter or pattern", node.place);
  return column;
}

std::vector<Column> build_keys(const Node& node) {
  std::vector<Column> keys;
  for (const Node* key : node.all("key")) {
    const std::string title = key->get("title");
    keys.push_back(build_values(*key, title.empty() ? std::nullopt : std::optional(title)));
    keys.back().primary = key->flag("primekey");
  }
  return keys;
}

/// The old way to say which keys are primary: a list of their columns.
void mark_primary(const Node& node, std::vector<Column>& keys) {
  for (const std::string& wanted : split_names(attribute(node, "primekeys"))) {
    std::vector<std::string> known;
    bool found = false;
    for (Column& key : keys) {
      known.push_back(key.title.value_or(key.name));
      if (known.back() == wanted)
        key.primary = found = true;
    }
    if (!found)
      throw Error(Id::unknown_name,
                  fmt::format("'{}' in primekeys is not a key of this database", wanted),
                  did_you_mean(wanted, known), place_of(node, "primekeys"));
  }
}

/// @throws Error if it has neither an address nor a host, or both
Syslog build_syslog(const Node& node) {
  Syslog syslog;
  syslog.name = required_name(node);
  syslog.address = attribute(node, "address");
  syslog.host = attribute(node, "host");
  syslog.port = whole_number(node, "port", 1);
  syslog.format = node.get("format");
  syslog.sort = split_names(attribute(node, "sort"));
  syslog.filter = attribute(node, "filter");
  syslog.keys = build_keys(node);
  syslog.place = node.place;
  if (syslog.address.empty() == syslog.host.empty())
    throw Error(
        Id::invalid_value,
        fmt::format("syslog '{}' has {}", syslog.name,
                    syslog.host.empty() ? "no address and no host" : "an address and a host"),
        "give either the `address` of a socket or `host` and `port`", node.place);
  return syslog;
}

/// @throws Error if `primekeys` names none of its keys
Database build_database(const Node& node) {
  Database database;
  database.name = file_name(node);
  database.file = attribute(node, "file");
  database.filter = attribute(node, "filter");
  database.keys = build_keys(node);
  database.place = node.place;
  mark_primary(node, database.keys);
  return database;
}

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
    throw Error(Id::missing_key, "this figure does not name its table",
                names.empty() ? "add a table to this result" : "tables: " + join(names, ", "),
                node.place);
  const auto found = std::ranges::find(tables, name, &Table::name);
  if (found == tables.end())
    throw Error(Id::unknown_name, fmt::format("figure of an unknown table '{}'", name),
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
      throw Error(Id::unknown_name,
                  fmt::format("table '{}' has no column '{}'", table.name, column),
                  suggestion(column, known, "columns: "), place_of(node, key));
}

Figure build_figure(const Node& node, const std::vector<Table>& tables) {
  const Table& table = table_of(node, tables);
  Figure figure;
  figure.table = table.name;
  figure.mark = one_of_or_none(node, "mark", marks()).value_or(Figure::Mark::automatic);
  figure.x = attribute(node, "x");
  figure.y = split_names(attribute(node, "y"));
  figure.color = split_names(attribute(node, "color"));
  figure.row = attribute(node, "row");
  figure.facet = attribute(node, "facet");
  figure.x_scale = one_of_or_none(node, "x_scale", scales()).value_or(Figure::Scale::automatic);
  figure.scale = one_of_or_none(node, "scale", scales()).value_or(Figure::Scale::automatic);
  figure.title = attribute(node, "title");
  figure.place = node.place;
  if (figure.x.empty() || figure.y.empty())
    throw Error(Id::missing_key,
                fmt::format("this figure has no `{}`", figure.x.empty() ? "x" : "y"),
                "a figure needs the columns x and y", node.place);
  if ((figure.mark == Figure::Mark::heatmap) == figure.row.empty())
    throw Error(
        Id::invalid_value,
        figure.row.empty() ? "a heatmap needs `row`, its other axis" : "only a heatmap has `row`",
        figure.row.empty() ? "" : "add `mark: heatmap`, or use `color` or `facet`",
        figure.row.empty() ? place_of(node, "mark") : place_of(node, "row"));
  if (figure.mark == Figure::Mark::heatmap && !figure.color.empty())
    throw Error(Id::invalid_value, "a heatmap has no `color`: its colours show y", "use `facet`",
                place_of(node, "color"));
  check_columns_of(node, "x", {figure.x}, table);
  check_columns_of(node, "y", figure.y, table);
  check_columns_of(node, "color", figure.color, table);
  for (const auto& [key, column] : {std::pair("row", figure.row), {"facet", figure.facet}})
    if (!column.empty())
      check_columns_of(node, key, {column}, table);
  return figure;
}

/// The figures of a result element.
/// @param tables those of the same element
/// @throws Error with the place of a table, column or word that there is none of
std::vector<Figure> build_figures(const Node& result, const std::vector<Table>& tables) {
  std::vector<Figure> figures;
  for (const Node* node : result.all("figure"))
    figures.push_back(build_figure(*node, tables));
  return figures;
}

Analysis build_analysis(const Node& node) {
  Analysis analysis{.step = attribute(node, "step"), .files = {}, .place = place_of(node, "step")};
  for (const Node* file : node.all("file"))
    for (std::string& name : split_names(file->text))
      analysis.files.push_back({.name = std::move(name),
                                .use = split_names(attribute(*file, "use")),
                                .place = file->text_place});
  return analysis;
}

/// `metric` or `metric[unit]`.
std::string published_name(const Node& node) {
  std::string text = attribute(node, "compare");
  const auto bracket = text.find('[');
  if (bracket == 0 || (bracket != std::string::npos) != text.ends_with(']'))
    throw Error(Id::invalid_value,
                fmt::format("compare must be METRIC or METRIC[UNIT], not '{}'", text), "",
                place_of(node, "compare"));
  return text;
}

Column build_column(const Node& node) {
  const document::Attribute* title = node.find("title");
  Column column = build_values(node, title ? std::optional(title->value) : std::nullopt);
  if (node.find("colw"))
    column.minimum_width = whole_number(node, "colw", 0);
  column.compare = published_name(node);
  column.better = better_of(node);
  return column;
}

std::map<std::string, std::string> table_styles() {
  std::map<std::string, std::string> styles;
  for (const std::string& style : document::element("table").attribute("style")->words)
    styles.emplace(style, style);
  return styles;
}

Table build_table(const Node& node) {
  Table table;
  table.name = file_name(node);
  table.style = one_of(node, "style", table_styles());
  table.separator = node.value("separator");
  table.sort = split_names(attribute(node, "sort"));
  table.filter = attribute(node, "filter");
  table.transpose = node.flag("transpose");
  for (const Node* column : node.all("column"))
    table.columns.push_back(build_column(*column));
  table.place = node.place;
  table.cdf = attribute(node, "cdf");
  table.cdf_place = place_of(node, "cdf");
  return table;
}

}  // namespace

Analyser build_analyser(const Node& node) {
  Analyser analyser;
  analyser.name = required_name(node);
  analyser.reduce = node.flag("reduce");
  analyser.use = used_names(node);
  for (const Node* child : node.all("analyse"))
    analyser.analyses.push_back(build_analysis(*child));
  analyser.place = node.place;
  return analyser;
}

Result build_result(const Node& node) {
  Result result;
  result.use = used_names(node);
  result.result_dir = attribute(node, "result_dir");
  for (const Node* table : node.all("table"))
    result.tables.push_back(build_table(*table));
  result.figures = build_figures(node, result.tables);
  for (const Node* syslog : node.all("syslog"))
    result.syslogs.push_back(build_syslog(*syslog));
  for (const Node* database : node.all("database"))
    result.databases.push_back(build_database(*database));
  result.place = node.place;
  return result;
}

}  // namespace bench::model
