// The plan of a `figure` that a benchmark asks for.
#include "figure_plan.hpp"
#include "figure_source.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::report {
namespace {

std::size_t column_of(const Source& source, const std::string& name, const Place& place) {
  if (const auto found = source.find(name))
    return *found;
  std::vector<std::string> known;
  for (const Column& column : source.columns)
    known.push_back(column.title);
  throw Error(Id::unknown_name, fmt::format("table '{}' has no column '{}'", source.name, name),
              suggestion(name, known, "columns: "), place);
}

Mark mark_of(const model::Figure& asked, const Column& x) {
  constexpr std::array marks{Mark::line, Mark::bar, Mark::heatmap, Mark::point};
  if (asked.mark == model::Figure::Mark::automatic)
    return x.is_numeric ? Mark::line : Mark::bar;
  return marks[static_cast<std::size_t>(asked.mark) - 1];
}

Scale scale_of(model::Figure::Scale asked) {
  constexpr std::array scales{Scale::automatic, Scale::linear, Scale::log, Scale::fit};
  return scales[static_cast<std::size_t>(asked)];
}

/// Makes facets of the parameters that the figure does not place.
void place_hidden(const Source& source, const Place& place, Plan& plan) {
  const std::vector<std::size_t> hidden = hidden_parameters(source, plan);
  plan.facet.insert(plan.facet.end(), hidden.begin(), hidden.end());
  const std::size_t panels = combinations(source, plan.facet);
  if (hidden.empty() || panels <= panels_shown)
    return;
  std::vector<std::string> names;
  for (const std::size_t column : hidden)
    names.push_back(source.columns[column].title);
  throw Error(Id::invalid_value,
              fmt::format("the figure of table '{}' does not place {}, which would be {} panels",
                          source.name, join(names, ", "), panels),
              "name them in `color`, `row` or `facet`, or make a table with a `filter`", place);
}

}  // namespace

Plan asked_plan(const Source& source, const model::Figure& asked) {
  Plan plan{.x = column_of(source, asked.x, asked.place),
            .x_scale = scale_of(asked.x_scale),
            .y_scale = scale_of(asked.scale),
            .title = asked.title};
  plan.mark = mark_of(asked, source.columns[plan.x]);
  const bool needs_numbers = plan.mark == Mark::line || plan.mark == Mark::point;
  if (needs_numbers && !source.columns[plan.x].is_numeric)
    throw Error(
        Id::invalid_value,
        fmt::format("column '{}' is not numeric, so it cannot be the axis of lines or points",
                    source.columns[plan.x].title),
        "use `mark: bar`", asked.place);
  for (const std::string& name : asked.y)
    plan.y.push_back(column_of(source, name, asked.place));
  for (const std::string& name : asked.color)
    plan.color.push_back(column_of(source, name, asked.place));
  if (!asked.row.empty())
    plan.row = column_of(source, asked.row, asked.place);
  if (!asked.facet.empty())
    plan.facet.push_back(column_of(source, asked.facet, asked.place));
  place_hidden(source, asked.place, plan);
  return plan;
}

}  // namespace bench::report
