#include "figure_source.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/pages/figure.hpp>
#include <bench/pages/report_page.hpp>
#include <bench/results/format.hpp>
#include <bench/results/table.hpp>

namespace bench::pages {
namespace {

using Json = nlohmann::ordered_json;
using results::Cell;

/// Bytes of a run that are not UTF-8 are replaced.
std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Repeated texts, dictionary-encoded: indices into the distinct texts, -1 if missing.
class Texts {
 public:
  void add(const std::string& text) {
    const auto [known, is_new] = positions_.emplace(text, positions_.size());
    if (is_new)
      different_.push_back(text);
    indices_.push_back(static_cast<long long>(known->second));
  }
  void add_none() { indices_.push_back(-1); }
  bool empty() const { return different_.empty(); }
  Json json() const { return {{"d", different_}, {"i", indices_}}; }

 private:
  std::map<std::string, std::size_t> positions_;
  std::vector<std::string> different_;
  std::vector<long long> indices_;
};

std::optional<double> finite(const Value& value) {
  const auto number = as_number(value);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

/// Whether JavaScript, which has only doubles, keeps all digits.
bool is_exact_in_a_browser(const Value& value) {
  constexpr long long most = 1LL << 53;
  const auto* integer = std::get_if<long long>(&value);
  return !integer || (-most <= *integer && *integer <= most);
}

Json number_of(const Value& value) {
  if (const auto* integer = std::get_if<long long>(&value))
    return *integer;
  return std::get<double>(value);
}

/// Values of a column: numbers as they are, texts dictionary-encoded.
template <typename Values>
Json values_json(const Values& values) {
  bool numeric = true;
  for (const std::optional<Value>& value : values)
    numeric = numeric && (!value || (finite(*value) && is_exact_in_a_browser(*value)));
  if (numeric) {
    Json numbers = Json::array();
    for (const std::optional<Value>& value : values)
      numbers.push_back(value ? number_of(*value) : Json(nullptr));
    return numbers;
  }
  Texts texts;
  for (const std::optional<Value>& value : values)
    if (value)
      texts.add(to_text(*value));
    else
      texts.add_none();
  return texts.json();
}

/// N if all formats of a column are `.Nf`, which the browser can apply itself.
std::optional<int> decimals_of(const results::Table& table, std::size_t column) {
  std::string format;
  for (const auto& row : table.rows) {
    if (row[column].value && !as_number(*row[column].value))
      return std::nullopt;
    format = row[column].format;
    if (format != table.rows.front()[column].format)
      return std::nullopt;
  }
  const bool is_fixed = format.size() == 3 && format.front() == '.' && format.back() == 'f' &&
                        format[1] >= '0' && format[1] <= '9';
  return is_fixed ? std::optional(format[1] - '0') : std::nullopt;
}

/// Whether JavaScript's toFixed writes the embedded number as `text`. It may not for a number in
/// the middle between two texts, for which the last digits count.
bool is_what_a_browser_shows(const Value& value, int decimals, const std::string& text) {
  const auto* real = std::get_if<double>(&value);
  if (!real)
    return fmt::format("{:.{}f}", static_cast<double>(std::get<long long>(value)), decimals) ==
           text;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double near : {std::nextafter(*real, -infinity), std::nextafter(*real, infinity)})
    if (fmt::format("{:.{}f}", near, decimals) != text)
      return false;
  return true;
}

/// The text of a cell if it is not just its value; otherwise empty.
/// @param decimals of all cells of the column that have a value
std::string shown_text(const Cell& cell, const Place& place, std::optional<int> decimals) {
  if (!cell.value)
    return "";
  if (cell.spread) {
    const std::string format = cell.format.empty() ? ".4g" : cell.format;
    return fmt::format("{} [{} to {}]", results::format_value(cell.spread->median, format, place),
                       results::format_value(cell.spread->low, format, place),
                       results::format_value(cell.spread->high, format, place));
  }
  if (!cell.format.empty()) {
    const std::string text = results::format_value(*cell.value, cell.format, place);
    return decimals && is_what_a_browser_shows(*cell.value, *decimals, text) ? "" : text;
  }
  if (const auto* real = std::get_if<double>(&*cell.value); real && std::isfinite(*real))
    if (const std::string text = results::short_text(*real); text != to_text(*cell.value))
      return text;
  return "";
}

Json column_json(const results::Table& table, std::size_t column) {
  const results::Heading& heading = table.headings[column];
  std::vector<std::optional<Value>> values;
  Texts shown;
  Texts absent;
  bool estimated = false;
  const std::optional<int> decimals = decimals_of(table, column);
  for (const auto& row : table.rows) {
    const Cell& cell = row[column];
    values.push_back(cell.value);
    if (const std::string text = shown_text(cell, heading.place, decimals); !text.empty())
      shown.add(text);
    else
      shown.add_none();
    if (cell.absent_reason.empty())
      absent.add_none();
    else
      absent.add(cell.absent_reason);
    estimated = estimated || cell.estimated;
  }
  Json json{{"title", heading.title}, {"unit", heading.unit}};
  json["values"] = values_json(values);
  if (decimals)
    json["decimals"] = *decimals;
  if (!shown.empty())
    json["shown"] = shown.json();
  if (!absent.empty())
    json["absent"] = absent.json();
  if (estimated)
    json["estimated"] = true;
  return json;
}

Json table_json(const results::Table& table, const std::string& title) {
  Json json{{"name", table.name}, {"title", title}};
  json["columns"] = Json::array();
  for (std::size_t column = 0; column < table.headings.size(); ++column)
    json["columns"].push_back(column_json(table, column));
  const Source source = source_of(table, [](const std::string&) { return false; });
  Texts states;
  bool is_any_not_done = false;
  for (const RowState state : source.states) {
    states.add(name_of(state));
    is_any_not_done = is_any_not_done || state != RowState::done;
  }
  if (is_any_not_done)
    json["states"] = states.json();
  json["rows"] = table.rows.size();
  json["notes"] = Json::array();
  for (const std::string& note : results::notes_of(table))
    json["notes"].push_back(note);
  return json;
}

/// Tooltips show all digits, of which sums and medians may have too many.
std::vector<std::optional<Value>> rounded(std::vector<std::optional<Value>> values) {
  for (std::optional<Value>& value : values)
    if (auto* real = value ? std::get_if<double>(&*value) : nullptr)
      *real = parse_number(fmt::format("{:.12g}", *real)).value_or(*real);
  return values;
}

Json figure_json(const Figure& figure) {
  Json json{{"id", figure.id}, {"title", figure.title}, {"description", figure.description}};
  json["columns"] = Json::array();
  for (const FigureColumn& column : figure.columns)
    json["columns"].push_back({{"title", column.title},
                               {"unit", column.unit},
                               {"values", values_json(rounded(column.values))}});
  json["panels"] = Json::array();
  for (const Panel& panel : figure.panels)
    json["panels"].push_back({{"title", panel.title},
                              {"legend_characters", panel.legend_characters},
                              {"specification", Json::parse(panel.specification)}});
  json["notes"] = figure.notes;
  return json;
}

Json figures_json(const std::vector<Figure>& figures) {
  Json json = Json::array();
  for (const Figure& figure : figures)
    json.push_back(figure_json(figure));
  return json;
}

Json sheet_json(const RunSheet& run) {
  Json facts = Json::array();
  for (const auto& [name, text] : run.facts)
    facts.push_back(Json::array({name, text}));
  return {{"name", run.name}, {"facts", facts}, {"states", run.states}};
}

}  // namespace

std::string figures_of(const std::vector<Figure>& figures, const std::vector<std::string>& notes) {
  return dumped({{"figures", figures_json(figures)}, {"notes", notes}});
}

std::string content_of(const Page& page) {
  Json json{{"title", page.title}, {"comment", page.comment}, {"version", page.version}};
  json["runs"] = Json::array();
  for (const RunSheet& run : page.runs)
    json["runs"].push_back(sheet_json(run));
  json["figures"] = figures_json(page.figures);
  return dumped(json);
}

std::string tables_of(const Page& page, const std::string& licenses) {
  Json json{{"tables", Json::array()}};
  for (const ReportTable& table : page.tables)
    json["tables"].push_back(table_json(table.table, table.title));
  if (!page.failures.rows.empty())
    json["failures"] = table_json(page.failures, "");
  json["licenses"] = licenses;
  return dumped(json);
}

}  // namespace bench::pages
