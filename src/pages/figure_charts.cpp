#include "figure_channels.hpp"
#include "figure_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/value.hpp>
#include <bench/pages/figure.hpp>

namespace bench::pages {
namespace {

std::vector<std::size_t> tooltip_columns(const Chart& chart, const Measure& measure) {
  std::vector<std::size_t> columns{chart.x};
  for (const auto& column : {chart.row, chart.color, chart.facet})
    if (column)
      columns.push_back(*column);
  columns.push_back(measure.value);
  for (const auto& column : {measure.low, measure.high, chart.completed})
    if (column)
      columns.push_back(*column);
  return columns;
}

std::vector<std::size_t> tooltip_of_failures(const Chart& chart) {
  std::vector<std::size_t> columns{chart.x};
  for (const auto& column : {chart.row, chart.color, chart.facet, chart.state, chart.reason})
    if (column)
      columns.push_back(*column);
  return columns;
}

/// Selects the points that are partly done.
Json is_partial(const Chart& chart) {
  Json texts = Json::array();
  for (const auto& value : chart.data.at(*chart.completed).values)
    if (value && std::ranges::find(texts, Json(to_text(*value))) == texts.end())
      texts.push_back(to_text(*value));
  return {{"filter", {{"field", field(*chart.completed)}, {"oneOf", texts}}}};
}

/// Text at the beginning of each bar that is not done.
Json failure_texts(const Chart& chart, Json encoding) {
  encoding.erase("color");
  encoding["x"] = {{"value", 4}};
  encoding["text"] = {{"field", field(*chart.mark_of_state)}, {"type", "nominal"}};
  encoding["tooltip"] = tooltip(chart.data, tooltip_of_failures(chart));
  return {{"transform", Json::array({is_not_done(*chart.state)})},
          {"mark", {{"type", "text"}, {"align", "left"}, {"style", "failure-text"}}},
          {"encoding", encoding}};
}

/// A ring around points that are partly done, with their count.
void add_partial(const Chart& chart, Json encoding, Json& layers) {
  if (!chart.completed)
    return;
  const Json only = Json::array({is_partial(chart)});
  encoding.erase("shape");
  layers.push_back({{"transform", only},
                    {"mark", {{"type", "point"}, {"filled", false}, {"style", "partial"}}},
                    {"encoding", encoding}});
  encoding.erase("color");
  encoding["text"] = {{"field", field(*chart.completed)}, {"type", "nominal"}};
  layers.push_back(
      {{"transform", only},
       {"mark", {{"type", "text"}, {"align", "left"}, {"dx", 10}, {"style", "failure-text"}}},
       {"encoding", encoding}});
}

/// Failures are drawn on the x axis, since they have no value: those of each line above those of
/// the previous one.
void add_failures(const Chart& chart, const Json& x, Json& layers) {
  if (!chart.state)
    return;
  const Json tips = tooltip(chart.data, tooltip_of_failures(chart));
  const FigureColumn& marks = chart.data.at(*chart.mark_of_state);
  const std::vector<std::string> one_line{""};
  int raised = 8;
  for (const std::string& level : chart.color ? chart.color_levels : one_line) {
    bool any = false;
    for (std::size_t row = 0; row < chart.data.rows(); ++row)
      any = any || (!to_text(*marks.values[row]).empty() &&
                    (!chart.color || to_text(*chart.data.at(*chart.color).values[row]) == level));
    if (!any)
      continue;
    Json only = Json::array({is_not_done(*chart.state)});
    if (chart.color)
      only.push_back(is_equal(*chart.color, level));
    const Json y{{"value", {{"expr", fmt::format("height - {}", raised)}}}};
    Json encoding{{"x", x}, {"y", y}, {"tooltip", tips}};
    if (chart.color)
      encoding["color"] = colors(chart.data, *chart.color, chart.color_levels);
    layers.push_back(
        {{"transform", only},
         {"mark", {{"type", "point"}, {"filled", true}, {"shape", "cross"}, {"style", "failure"}}},
         {"encoding", encoding}});
    // The halo keeps a text on a line readable.
    for (const char* style : {"failure-halo", "failure-text"})
      layers.push_back(
          {{"transform", only},
           {"mark", {{"type", "text"}, {"align", "left"}, {"dx", 7}, {"style", style}}},
           {"encoding",
            {{"x", x},
             {"y", y},
             {"text", {{"field", field(*chart.mark_of_state)}, {"type", "nominal"}}}}}});
    raised += 14;
  }
}

/// The ideal, as a line with its own data.
void add_ideal(const Chart& chart, const Measure& measure, const Json& x, const Json& y,
               Json& layers) {
  const std::vector<double> at = numbers_of(chart.data.at(chart.x));
  if (chart.ideal == Ideal::none || at.empty() || at.front() <= 0)
    return;
  const double one = chart.data.at(measure.value).unit == "%" ? 100 : 1;
  Json values = Json::array();
  for (const double x_value : at) {
    double ideal = one;
    if (chart.ideal == Ideal::proportional)
      ideal = x_value / *chart.baseline_x;
    else if (chart.ideal == Ideal::equal)
      ideal = x_value;
    values.push_back({{field(chart.x), x_value},
                      {field(measure.value), ideal},
                      {"name", chart.ideal == Ideal::equal ? "equal" : "ideal"}});
  }
  layers.push_back({{"data", {{"values", values}}},
                    {"mark", {{"type", "line"}, {"style", "ideal"}}},
                    {"encoding", {{"x", x}, {"y", y}}}});
  layers.push_back({{"data", {{"values", Json::array({values.back()})}}},
                    {"mark",
                     {{"type", "text"},
                      {"style", "ideal-text"},
                      {"align", "right"},
                      {"dx", -8},
                      {"dy", chart.ideal == Ideal::constant ? -8 : 0}}},
                    {"encoding", {{"x", x}, {"y", y}, {"text", {{"field", "name"}}}}}});
}

/// The done count at the end of a bar, or behind its whisker.
Json completed_texts(const Chart& chart, const Measure& measure, Json encoding) {
  encoding.erase("color");
  encoding["text"] = {{"field", field(*chart.completed)}, {"type", "nominal"}};
  Json rows = Json::array({is_partial(chart)});
  if (measure.high) {
    rows.push_back({{"calculate", fmt::format("isValid(datum.{0}) ? datum.{0} : datum.{1}",
                                              field(*measure.high), field(measure.value))},
                    {"as", "end"}});
    encoding["x"]["field"] = "end";
  }
  return {{"transform", rows},
          {"mark", {{"type", "text"}, {"align", "left"}, {"dx", 4}, {"style", "failure-text"}}},
          {"encoding", encoding}};
}

/// The same below the value of a cell.
Json completed_in_cell(const Chart& chart, Json value_layer) {
  value_layer["transform"].push_back(is_partial(chart));
  value_layer["mark"]["dy"] = 12;
  value_layer["mark"]["fontSize"] = 9;
  value_layer["encoding"]["text"] = {{"field", field(*chart.completed)}, {"type", "nominal"}};
  return value_layer;
}

/// Black or white, whichever has more contrast with the cell: at least 4.5 on every colour. The
/// ratio is that of WCAG 2.2, section 1.4.3.
Json ink_on(std::size_t column) {
  const std::string test = fmt::format(
      "contrast('black', scale('color', datum.{0})) >= contrast('white', scale('color', "
      "datum.{0}))",
      field(column));
  return {{"condition", {{"test", test}, {"value", "black"}}}, {"value", "white"}};
}

/// The numbers behind the medians of a panel as dots, with their own data.
/// @param along the channel of the values
void add_numbers(const Chart& chart, const Measure& measure, const std::string& facet_level,
                 Json encoding, const char* along, Json& layers) {
  const auto text_at = [&](std::size_t column, std::size_t row) {
    const auto& value = chart.data.at(column).values[row];
    return value ? to_text(*value) : "";
  };
  const FigureColumn& x = chart.data.at(chart.x);
  Json values = Json::array();
  for (const auto& [row, number] : measure.numbers) {
    if ((chart.facet && text_at(*chart.facet, row) != facet_level) || !x.values[row])
      continue;
    const auto* at = std::get_if<double>(&*x.values[row]);
    Json dot{{field(chart.x), at ? Json(*at) : Json(text_at(chart.x, row))},
             {field(measure.value), number}};
    if (chart.color)
      dot[field(*chart.color)] = text_at(*chart.color, row);
    values.push_back(std::move(dot));
  }
  if (values.empty())
    return;
  encoding[along]["field"] = field(measure.value);
  layers.push_back({{"data", {{"values", values}}},
                    {"mark", {{"type", "point"}, {"style", "number"}}},
                    {"encoding", encoding}});
}

/// Panels side by side share a scale, so that they can be compared.
void share_domain(const Chart& chart, const Measure& measure, Json& y) {
  std::vector<double> numbers;
  for (const auto& column : {std::optional(measure.value), measure.low, measure.high})
    if (column) {
      const std::vector<double> more = numbers_of(chart.data.at(*column));
      numbers.insert(numbers.end(), more.begin(), more.end());
    }
  for (const auto& [row, number] : measure.numbers)
    numbers.push_back(number);
  if (numbers.empty())
    return;
  double low = *std::ranges::min_element(numbers);
  if (y["scale"].value("zero", false))
    low = std::min(low, 0.0);
  const double high = *std::ranges::max_element(numbers);
  if (low < high)
    y["scale"]["domain"] = {low, high};
}

Json lines(const Chart& chart, const Measure& measure, const std::string& facet_level) {
  const bool is_step = chart.mark == Mark::step;
  const bool is_measured = chart.mark == Mark::point && chart.x_scale == Scale::automatic;
  const Json x = measure_axis(chart.data, chart.x, is_measured ? Scale::linear : chart.x_scale);
  Json y = bench::pages::measure(chart.data, measure.value, chart.y_scale,
                                 is_step || chart.ideal == Ideal::constant);
  if (chart.facet)
    share_domain(chart, measure, y);
  Json encoding{{"x", x}, {"y", y}};
  if (chart.color)
    encoding["color"] = colors(chart.data, *chart.color, chart.color_levels);
  const Json valid = Json::array({is_valid(measure.value)});
  Json layers = Json::array();
  add_ideal(chart, measure, x, y, layers);
  if (measure.low) {
    Json interval = encoding;
    interval["y"]["field"] = field(*measure.low);
    interval["y2"] = {{"field", field(*measure.high)}};
    layers.push_back({{"transform", Json::array({is_valid(*measure.low)})},
                      {"mark", {{"type", "rule"}, {"style", "interval"}}},
                      {"encoding", interval}});
  }
  add_numbers(chart, measure, facet_level, encoding, "y", layers);
  if (chart.mark != Mark::point)
    layers.push_back({{"transform", valid}, {"mark", {{"type", "line"}}}, {"encoding", encoding}});
  if (is_step)
    layers.back()["mark"]["interpolate"] = "step-after";
  constexpr std::size_t most_symbols = 400;
  if (!is_step && chart.data.rows() <= most_symbols) {
    // Shapes tell series apart where colours do not: in print, and for one reader in twelve.
    if (chart.color) {
      encoding["shape"] = encoding["color"];
      encoding["shape"].erase("scale");
      encoding["shape"]["scale"] = {{"domain", chart.color_levels}};
    }
    encoding["tooltip"] = tooltip(chart.data, tooltip_columns(chart, measure));
    layers.push_back({{"transform", valid},
                      {"mark", {{"type", "point"}, {"filled", true}, {"size", 60}}},
                      {"encoding", encoding}});
  }
  encoding["tooltip"] = tooltip(chart.data, tooltip_columns(chart, measure));
  add_partial(chart, encoding, layers);
  add_failures(chart, x, layers);
  return layers;
}

/// The value of a bar, which begins at zero.
Json measure_from_zero(const Chart& chart, const Measure& measure) {
  Json x = bench::pages::measure(chart.data, measure.value, chart.y_scale, true);
  x["stack"] = chart.mark == Mark::stack ? Json("zero") : Json(nullptr);
  return x;
}

Json bars(const Chart& chart, const Measure& measure, const std::string& facet_level) {
  Json y = names(chart.data, chart.x, chart.x_levels);
  label_bytes(chart.data.at(chart.x), "toNumber(datum.label)", "axis", y);
  const Json x = measure_from_zero(chart, measure);
  Json encoding{{"y", y}, {"x", x}};
  if (chart.color) {
    encoding["color"] = colors(chart.data, *chart.color, chart.color_levels);
    encoding["yOffset"] = {{"field", field(*chart.color)}, {"sort", chart.color_levels}};
  }
  Json layers = Json::array();
  Json bar = encoding;
  bar["tooltip"] = tooltip(chart.data, tooltip_columns(chart, measure));
  layers.push_back({{"transform", Json::array({is_valid(measure.value)})},
                    {"mark", {{"type", "bar"}}},
                    {"encoding", bar}});
  if (measure.low) {
    Json interval = encoding;
    interval.erase("color");
    interval["x"]["field"] = field(*measure.low);
    interval["x2"] = {{"field", field(*measure.high)}};
    layers.push_back({{"transform", Json::array({is_valid(*measure.low)})},
                      {"mark", {{"type", "rule"}, {"style", "interval-of-bar"}}},
                      {"encoding", interval}});
  }
  Json dots = encoding;
  dots.erase("color");
  add_numbers(chart, measure, facet_level, dots, "x", layers);
  if (chart.completed)
    layers.push_back(completed_texts(chart, measure, bar));
  if (chart.state)
    layers.push_back(failure_texts(chart, encoding));
  return layers;
}

Json heatmap(const Chart& chart, const Measure& measure) {
  std::vector<std::string> up = chart.row_levels;
  std::ranges::reverse(up);
  Json x = names(chart.data, chart.x, chart.x_levels);
  x["axis"] = {{"labelAngle", 0}, {"labelOverlap", true}, {"titleLimit", 400}};
  Json y = names(chart.data, *chart.row, up);
  label_bytes(chart.data.at(chart.x), "toNumber(datum.label)", "axis", x);
  label_bytes(chart.data.at(*chart.row), "toNumber(datum.label)", "axis", y);
  const FigureColumn& shown = chart.data.at(measure.value);
  const std::vector<double> numbers = numbers_of(shown);
  const double low = numbers.empty() ? 0 : numbers.front();
  const double high = numbers.empty() ? 0 : numbers.back();
  const std::string format = cell_format(numbers);
  const Json valid = is_valid(measure.value);
  Json layers = Json::array();
  layers.push_back({{"transform", Json::array({valid})},
                    {"mark", {{"type", "rect"}}},
                    {"encoding",
                     {{"x", x},
                      {"y", y},
                      {"color",
                       {{"field", field(measure.value)},
                        {"type", "quantitative"},
                        {"title", label(shown)},
                        {"scale", {{"domain", {low, high}}}},
                        {"legend",
                         {{"orient", "bottom"},
                          {"titleLimit", 300},
                          {"gradientLength", 200},
                          {"tickCount", 3},
                          {"labelOverlap", true}}}}},
                      {"tooltip", tooltip(chart.data, tooltip_columns(chart, measure))}}}});
  layers.push_back(
      {{"transform", Json::array({valid})},
       {"mark", {{"type", "text"}, {"style", "cell"}}},
       {"encoding",
        {{"x", x},
         {"y", y},
         {"color", ink_on(measure.value)},
         {"text",
          {{"field", field(measure.value)}, {"type", "quantitative"}, {"format", format}}}}}});
  const std::string value = fmt::format("datum.{}", field(measure.value));
  if (std::string text = bytes_label(shown, value.c_str()); !text.empty()) {
    Json& layer = layers.back();
    layer["transform"].push_back({{"calculate", std::move(text)}, {"as", "shown"}});
    layer["encoding"]["text"] = {{"field", "shown"}, {"type", "nominal"}};
    label_bytes(shown, "datum.value", "legend", layers.front()["encoding"]["color"]);
  }
  if (chart.completed)
    layers.push_back(completed_in_cell(chart, layers.back()));
  if (chart.state) {
    const Json only = Json::array({is_not_done(*chart.state)});
    layers.push_back(
        {{"transform", only},
         {"mark", {{"type", "rect"}, {"style", "failed-cell"}}},
         {"encoding",
          {{"x", x}, {"y", y}, {"tooltip", tooltip(chart.data, tooltip_of_failures(chart))}}}});
    layers.push_back({{"transform", only},
                      {"mark", {{"type", "text"}, {"style", "failure-text"}}},
                      {"encoding",
                       {{"x", x},
                        {"y", y},
                        {"text", {{"field", field(*chart.mark_of_state)}, {"type", "nominal"}}}}}});
  }
  return layers;
}

Json stacks(const Chart& chart, const Measure& measure) {
  const std::vector<std::size_t> shown{chart.x, *chart.color, measure.value};
  const Json y = names(chart.data, chart.x, chart.x_levels);
  Json layers = Json::array();
  layers.push_back({{"transform", Json::array({is_valid(measure.value)})},
                    {"mark", {{"type", "bar"}}},
                    {"encoding",
                     {{"y", y},
                      {"x", measure_from_zero(chart, measure)},
                      {"color", colors(chart.data, *chart.color, chart.color_levels)},
                      {"order", {{"field", field(*chart.row)}, {"type", "quantitative"}}},
                      {"tooltip", tooltip(chart.data, shown)}}}});
  if (chart.state)
    layers.push_back(failure_texts(chart, {{"y", y}}));
  return layers;
}

Json layers_of(const Chart& chart, const Measure& measure, const std::string& facet_level) {
  switch (chart.mark) {
    case Mark::bar:
      return bars(chart, measure, facet_level);
    case Mark::heatmap:
      return heatmap(chart, measure);
    case Mark::stack:
      return stacks(chart, measure);
    case Mark::line:
    case Mark::point:
    case Mark::step:
      break;
  }
  return lines(chart, measure, facet_level);
}

/// The panel's rows: those of its facet.
Json rows_of(const Chart& chart, const std::string& facet_level) {
  return chart.facet ? Json::array({is_equal(*chart.facet, facet_level)}) : Json::array();
}

/// In pixels.
int height_of(const Chart& chart) {
  const int bars = static_cast<int>(chart.x_levels.size());
  const int colors = static_cast<int>(chart.color_levels.size());
  switch (chart.mark) {
    case Mark::bar:
      return bars * (chart.color ? 16 * colors + 10 : 26);
    case Mark::stack:
      return bars * 26;
    case Mark::heatmap:
      return static_cast<int>(chart.row_levels.size()) * 38;
    case Mark::line:
    case Mark::point:
    case Mark::step:
      break;
  }
  return 260;
}

}  // namespace

std::vector<Panel> panels_of(const Chart& chart) {
  std::vector<Panel> panels;
  const std::vector<std::string> one_panel{""};
  for (const Measure& measure : chart.measures)
    for (const std::string& level : chart.facet ? chart.facet_levels : one_panel) {
      Panel panel;
      Json specification{{"layer", layers_of(chart, measure, level)}};
      if (const Json rows = rows_of(chart, level); !rows.empty())
        specification["transform"] = rows;
      specification["height"] = height_of(chart);
      if (chart.facet)
        panel.title = chart.is_facet_combined  // then each value has its name
                          ? level
                          : fmt::format("{} = {}", label(chart.data.at(*chart.facet)), level);
      else if (chart.measures.size() > 1)
        panel.title = chart.data.at(measure.value).title;
      if (chart.facet && chart.measures.size() > 1)
        panel.title = chart.data.at(measure.value).title + ", " + panel.title;
      if (chart.color)
        panel.legend_characters = longest(chart.color_levels);
      panel.specification = specification.dump();
      panels.push_back(std::move(panel));
    }
  return panels;
}

}  // namespace bench::pages
