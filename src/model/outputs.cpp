#include "outputs.hpp"

#include "calculation.hpp"
#include "figures.hpp"
#include "key_outputs.hpp"
#include "read.hpp"

#include <map>
#include <string>
#include <utility>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/document/elements.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

using document::Node;

namespace {

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
    throw Error(fmt::format("compare must be METRIC or METRIC[UNIT], not '{}'", text), "",
                place_of(node, "compare"));
  return text;
}

Column build_column(const Node& node) {
  Column column;
  column.name = strip(node.text);
  if (const document::Attribute* title = node.find("title"))
    column.title = title->value;
  column.format = attribute(node, "format");
  column.minimum_width = whole_number(node, "colw", 0, 0);
  column.place = node.text_place;
  column.compare = published_name(node);
  column.better = better_of(node);
  column.unit = attribute(node, "unit");
  column.unit_place = place_of(node, "unit");
  column.calculation = build_calculation(node);
  if (column.calculation)
    column.name = name_of(*column.calculation, column.title.value_or(""));
  if (column.name.empty())
    throw Error("this column is empty", "write the name of a parameter or pattern", node.place);
  return column;
}

std::map<std::string, std::string> table_styles() {
  std::map<std::string, std::string> styles;
  for (const std::string& style : language::words_of("table", "style"))
    styles.emplace(style, style);
  return styles;
}

Table build_table(const Node& node) {
  Table table;
  table.name = file_name(node);
  table.style = one_of<std::string>(node, "style", table_styles(), "csv");
  table.separator = node.get("separator", ",");
  table.sort = split_names(attribute(node, "sort"));
  table.filter = attribute(node, "filter");
  table.transpose = node.flag("transpose", false);
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
  analyser.reduce = node.flag("reduce", true);
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
