#include "describe.hpp"

#include "points.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/pages/plan.hpp>
#include <bench/pages/source.hpp>

namespace bench::report {
namespace {

std::string titles_of(const Source& source, const std::vector<std::size_t>& columns,
                      bool with_units) {
  std::vector<std::string> titles;
  for (const std::size_t column : columns)
    titles.push_back(with_units ? source.columns[column].label() : source.columns[column].title);
  return join(titles, " and ");
}

const char* kind_of(Mark mark) {
  switch (mark) {
    case Mark::line:
      return "Lines";
    case Mark::bar:
      return "Bars";
    case Mark::heatmap:
      return "Heatmap";
    case Mark::point:
      return "Points";
    case Mark::stack:
      return "Stacked bars";
    case Mark::step:
      break;
  }
  return "Distribution function";
}

/// `batch_size=256, precision=bf16`: the position of a point.
std::string place_of(const Source& source, const Plan& plan, const Point& point) {
  std::vector<std::size_t> columns{plan.x};
  if (plan.row)
    columns.push_back(*plan.row);
  columns.insert(columns.end(), plan.color.begin(), plan.color.end());
  columns.insert(columns.end(), plan.facet.begin(), plan.facet.end());
  std::vector<std::string> texts;
  for (const std::size_t column : columns)
    texts.push_back(
        fmt::format("{}={}", source.columns[column].title, source.columns[column].text(point.row)));
  return join(texts, ", ");
}

std::string extremes(const Source& source, const Plan& plan, const std::vector<Point>& points) {
  std::string text;
  for (std::size_t k = 0; k < plan.y.size(); ++k) {
    const Point* low = nullptr;
    const Point* high = nullptr;
    for (const Point& point : points) {
      if (!point.y[k].value)
        continue;
      if (!low || *point.y[k].value < *low->y[k].value)
        low = &point;
      if (!high || *point.y[k].value > *high->y[k].value)
        high = &point;
    }
    if (low)
      text +=
          fmt::format(" {}: from {:.4g} ({}) to {:.4g} ({}).", source.columns[plan.y[k]].label(),
                      *low->y[k].value, place_of(source, plan, *low), *high->y[k].value,
                      place_of(source, plan, *high));
  }
  return text;
}

}  // namespace

std::string title_of(const Source& source, const Plan& plan) {
  const std::string y = titles_of(source, plan.y, false);
  const std::string& x = source.columns[plan.x].title;
  switch (plan.mark) {
    case Mark::line:
    case Mark::bar:
      break;
    case Mark::heatmap:
      return fmt::format("{} by {} and {}", y, x, source.columns[*plan.row].title);
    case Mark::point:
      return fmt::format("{} against {}", y, x);
    case Mark::stack:
      return plan.total ? fmt::format("{} in parts", source.columns[*plan.total].title)
                        : fmt::format("{} by {}", y, x);
    case Mark::step:
      return fmt::format("distribution of {}", x);
  }
  return fmt::format("{} {} {}", y, plan.mark == Mark::bar ? "by" : "over", x);
}

std::string description_of(const Source& source, const Plan& plan,
                           const std::vector<Point>& points) {
  std::string text =
      fmt::format("{} of {}, {} {}", kind_of(plan.mark), titles_of(source, plan.y, true),
                  plan.mark == Mark::bar || plan.mark == Mark::heatmap ? "by" : "over",
                  source.columns[plan.x].label());
  if (plan.row)
    text += fmt::format(" and {}", source.columns[*plan.row].label());
  if (!plan.color.empty())
    text += fmt::format(", for each {}", titles_of(source, plan.color, false));
  if (!plan.facet.empty())
    text += fmt::format(", a panel for each {}", titles_of(source, plan.facet, false));
  text += ".";
  if (plan.mark != Mark::step && plan.mark != Mark::stack)
    text += extremes(source, plan, points);
  std::map<RowState, std::size_t> counts;
  for (const Point& point : points)
    if (point.state != RowState::done)
      ++counts[point.state];
  if (const auto partial = std::ranges::count_if(points, &Point::is_partial); partial > 0)
    text += fmt::format(" {} {} failures among done workpackages.", partial,
                        partial == 1 ? "point has" : "points have");
  for (const auto& [state, count] : counts)
    text += fmt::format(" {} {} {}.", count, count == 1 ? "point:" : "points:", name_of(state));
  return text;
}

}  // namespace bench::report
