#include "channels.hpp"
#include "charts.hpp"
#include "levels.hpp"
#include "points.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/value.hpp>
#include <bench/pages/figure.hpp>
#include <bench/pages/plan.hpp>
#include <bench/pages/source.hpp>

namespace bench::report {

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

namespace {

/// The columns of a stack of bars: a row for each part, and one for a bar that has none.
class PartTable {
 public:
  explicit PartTable(Chart& chart) : chart_(chart) {}

  void add(const std::string& name, const Point& point, std::optional<Value> part,
           std::optional<Value> number, std::size_t order) {
    Data& data = chart_.data;
    data.at(chart_.x).values.emplace_back(name);
    data.at(*chart_.color).values.push_back(std::move(part));
    data.at(chart_.measures.front().value).values.push_back(std::move(number));
    data.at(*chart_.row).values.emplace_back(static_cast<long long>(order));
    if (!chart_.state)
      return;
    data.at(*chart_.state).values.emplace_back(name_of(point.state));
    data.at(*chart_.mark_of_state).values.emplace_back(std::string(short_name(point.state)));
    data.at(*chart_.reason)
        .values.push_back(point.reason.empty() ? std::nullopt : std::optional<Value>(point.reason));
  }

 private:
  Chart& chart_;
};

}  // namespace

void add_parts(const Source& source, const Plan& plan, const std::vector<Point>& points,
               Chart& chart) {
  std::vector<std::size_t> named{plan.x};
  named.insert(named.end(), plan.color.begin(), plan.color.end());
  const Column& first = source.columns[plan.y.front()];
  chart.x = chart.data.add(named.size() == 1 ? source.columns[plan.x].title : "");
  chart.color = chart.data.add("part");
  chart.measures.push_back({.value = chart.data.add("time", first.unit), .low = {}, .high = {}});
  chart.row = chart.data.add("order");  // order of the parts
  const bool all_done =
      std::ranges::all_of(points, [](const Point& point) { return point.state == RowState::done; });
  if (!all_done) {
    chart.state = chart.data.add("state");
    chart.mark_of_state = chart.data.add("mark");
    chart.reason = chart.data.add("reason");
  }
  PartTable table(chart);
  for (const std::size_t y : plan.y)
    chart.color_levels.push_back(source.columns[y].title);
  if (plan.total)
    chart.color_levels.emplace_back("rest");
  for (const Point& point : points) {
    std::string name = combined_text(source, named, point.row);
    if (point.is_partial())
      name += fmt::format(" ({})", point.completed());
    chart.x_levels.push_back(name);
    double sum = 0;
    for (std::size_t k = 0; k < plan.y.size(); ++k)
      if (point.y[k].value) {
        table.add(name, point, chart.color_levels[k], *point.y[k].value, k);
        sum += *point.y[k].value;
      }
    const auto total = plan.total ? point.y.back().value : std::nullopt;
    if (total && *total > sum)
      table.add(name, point, "rest", *total - sum, plan.y.size());
    if (point.state != RowState::done && sum == 0)
      table.add(name, point, std::nullopt, std::nullopt, 0);
  }
}

}  // namespace bench::report
