#include "limits.hpp"

#include "levels.hpp"
#include "points.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/pages/plan.hpp>
#include <bench/pages/source.hpp>

namespace bench::report {
namespace {

constexpr std::size_t bars_shown = 200;
constexpr std::size_t cells_shown = 60;  ///< Cells of a heatmap in one direction.
constexpr std::size_t colors_shown = 40;

/// Truncates the levels, and removes points at the others.
void cut(std::vector<std::string>& levels, std::size_t most, const std::string& title,
         const std::function<std::string(const Point&)>& level_of, std::vector<Point>& points,
         std::vector<std::string>& notes) {
  if (levels.size() <= most)
    return;
  notes.push_back(fmt::format("the first {} of {} values of {}; the table has all", most,
                              levels.size(), title));
  levels.resize(most);
  const std::unordered_set<std::string> kept(levels.begin(), levels.end());
  std::erase_if(points, [&](const Point& point) { return !kept.contains(level_of(point)); });
}

}  // namespace

ShownLevels limit(const Source& source, const Plan& plan, std::vector<Point>& points) {
  ShownLevels shown;
  const auto cut_column = [&](std::vector<std::string>& levels, std::size_t column,
                              std::size_t most) {
    levels = source.columns[column].levels();
    cut(
        levels, most, source.columns[column].title,
        [&](const Point& point) { return source.columns[column].text(point.row); }, points,
        shown.notes);
  };
  if (!plan.color.empty() && plan.mark != Mark::stack) {
    std::vector<std::string> titles;
    for (const std::size_t column : plan.color)
      titles.push_back(source.columns[column].title);
    shown.color = combined_levels(source, plan.color);
    cut(
        shown.color, colors_shown, join(titles, ", "),
        [](const Point& point) { return point.color; }, points, shown.notes);
  }
  if (!plan.facet.empty()) {
    shown.facet = combined_levels(source, plan.facet);
    cut(
        shown.facet, panels_shown, "the panels", [](const Point& point) { return point.facet; },
        points, shown.notes);
  }
  if (plan.row)
    cut_column(shown.row, *plan.row, cells_shown);
  if (plan.mark == Mark::heatmap)
    cut_column(shown.x, plan.x, cells_shown);
  else if (plan.mark == Mark::bar)
    cut_column(shown.x, plan.x, bars_shown / std::max<std::size_t>(1, shown.color.size()));
  else
    shown.x = source.columns[plan.x].levels();
  if (plan.mark == Mark::stack && points.size() > bars_shown) {
    shown.notes.push_back(
        fmt::format("the first {} of {} bars; the table has all", bars_shown, points.size()));
    points.resize(bars_shown);
  }
  return shown;
}

}  // namespace bench::report
