#include "figure_channels.hpp"
#include "figure_plan.hpp"
#include "figure_source.hpp"
#include "meter_files.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/numbers/reals.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/pages/figure.hpp>

namespace bench::pages {
namespace {

/// The value of one column at one point.
struct Shown {
  std::optional<double> value;  ///< The median of several rows; only done ones count.
  std::optional<double> low;    ///< Of the 95 % interval of the median, within the numbers.
  std::optional<double> high;
  std::vector<double> numbers = {};  ///< Behind the median, if there are several.
  bool is_baseline = false;          ///< Others are compared with it.
};

/// The rows of a source with the same position in a figure.
struct Point {
  std::size_t row = 0;  ///< The first of them.
  std::string color;    ///< Combined text; empty without colours.
  std::string facet;    ///< Combined text; empty without facets.
  std::vector<Shown> y;
  RowState state = RowState::done;  ///< Not done only if no row is done.
  std::size_t done = 0;             ///< Workpackages that are.
  std::size_t failed = 0;           ///< Those that failed or were skipped.
  std::string reason;

  /// Whether only a part of its workpackages is done.
  bool is_partial() const { return state == RowState::done && failed > 0; }
  std::string completed() const;  ///< `4 of 5`
};

/// @param is_repetition whether the rows have the same parameters, so that there is an interval
Shown shown(const Column& column, const std::vector<std::size_t>& rows, bool is_repetition) {
  std::vector<double> numbers;
  std::size_t last = 0;
  for (const std::size_t row : rows)
    if (const auto number = column.number(row)) {
      numbers.push_back(*number);
      last = row;
    }
  if (numbers.empty())
    return {};
  if (numbers.size() == 1)
    return {.value = numbers.front(),
            .low = column.low[last],
            .high = column.high[last],
            .numbers = column.iterations[last]};
  Shown all{.value = numbers::median(numbers), .low = {}, .high = {}, .numbers = numbers};
  if (!is_repetition)
    return all;
  const std::vector<Value> values(numbers.begin(), numbers.end());
  const numbers::Numbers sums = numbers::numbers_of(values);
  const auto end = [&](const char* suffix) {
    return as_number(numbers::statistic_of(suffix)->compute(values, &sums));
  };
  const auto low = end("_ci_low");
  const auto high = end("_ci_high");
  if (low && high && *low < *high) {
    all.low = low;
    all.high = high;
  }
  return all;
}

/// Of rows that are all not done, the most informative one.
void set_state(const Source& source, const std::vector<std::size_t>& rows, Point& point) {
  for (const std::size_t row : rows) {
    point.done += source.done[row];
    point.failed += source.failed[row];
  }
  if (std::ranges::any_of(rows, [&](std::size_t row) { return source.is_done(row); }))
    return;
  const std::size_t row = *std::ranges::min_element(
      rows, {}, [&](std::size_t one) { return static_cast<int>(source.states[one]); });
  point.state = source.states[row];
  point.reason = source.reasons[row];
}

std::string Point::completed() const {
  return fmt::format("{} of {}", done, done + failed);
}

/// The points of a plan, ordered by x, row, colour and facet.
std::vector<Point> points_of(const Source& source, const Plan& plan) {
  const bool is_repetition = hidden_parameters(source, plan).empty();
  std::vector<Places> places;
  for (const std::size_t key : plan.keys())
    places.emplace_back(source.columns[key]);
  std::map<std::vector<std::size_t>, std::vector<std::size_t>> groups;
  for (std::size_t row = 0; row < source.rows(); ++row) {
    if (!source.columns[plan.x].values[row])
      continue;
    std::vector<std::size_t> key;
    for (const Places& place : places)
      key.push_back(place.of(row));
    groups[key].push_back(row);
  }
  std::vector<Point> points;
  for (const auto& [key, members] : groups) {
    Point& point = points.emplace_back();
    point.row = members.front();
    if (!plan.color.empty())
      point.color = combined_text(source, plan.color, point.row);
    if (!plan.facet.empty())
      point.facet = combined_text(source, plan.facet, point.row);
    // A workpackage keeps the values that were found until it failed, but they do not count.
    std::vector<std::size_t> done;
    std::ranges::copy_if(members, std::back_inserter(done),
                         [&](std::size_t row) { return source.is_done(row); });
    for (const std::size_t y : plan.y) {
      point.y.push_back(shown(source.columns[y], done, is_repetition));
      point.y.back().is_baseline = std::ranges::any_of(
          done, [&](std::size_t row) { return source.columns[y].is_baseline[row]; });
    }
    set_state(source, members, point);
  }
  return points;
}

std::string titles_of(const Source& source, const std::vector<std::size_t>& columns,
                      std::string_view between, bool with_units = false) {
  std::vector<std::string> titles;
  for (const std::size_t column : columns)
    titles.push_back(with_units ? source.columns[column].label() : source.columns[column].title);
  return join(titles, between);
}

std::string kind_of(Mark mark) {
  constexpr std::array kinds{"Lines",  "Bars",         "Heatmap",
                             "Points", "Stacked bars", "Distribution function"};
  return kinds[static_cast<std::size_t>(mark)];
}

/// `batch_size=256, precision=bf16`: the position of a point.
std::string place_of(const Source& source, const Plan& plan, const Point& point) {
  std::vector<std::string> texts;
  for (const std::size_t column : plan.keys())
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

/// `throughput over batch_size`
std::string title_of(const Source& source, const Plan& plan) {
  const std::string y = titles_of(source, plan.y, " and ");
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

/// Describes the figure in words: its kind and axes, the highest and the lowest value, and the
/// number of failed points.
std::string description_of(const Source& source, const Plan& plan,
                           const std::vector<Point>& points) {
  std::string text =
      fmt::format("{} of {}, {} {}", kind_of(plan.mark), titles_of(source, plan.y, " and ", true),
                  plan.mark == Mark::bar || plan.mark == Mark::heatmap ? "by" : "over",
                  source.columns[plan.x].label());
  if (plan.row)
    text += fmt::format(" and {}", source.columns[*plan.row].label());
  if (!plan.color.empty())
    text += fmt::format(", for each {}", titles_of(source, plan.color, " and "));
  if (!plan.facet.empty())
    text += fmt::format(", a panel for each {}", titles_of(source, plan.facet, " and "));
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

/// The values that a figure shows in each dimension, in order.
struct ShownLevels {
  std::vector<std::string> x;
  std::vector<std::string> row;
  std::vector<std::string> color;
  std::vector<std::string> facet;
  std::vector<std::string> notes;  ///< What is left out, one sentence each.
};

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

/// Keeps the first values of each dimension, as many as are legible on a page: thousands of bars,
/// lines, cells or panels would be unreadable and take seconds to draw. Removes points at other
/// values.
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
    shown.color = combined_levels(source, plan.color);
    cut(
        shown.color, colors_shown, titles_of(source, plan.color, ", "),
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

constexpr std::size_t most_points =
    2000;  ///< Per line; more points than pixels would not be visible.

/// A parameter as a figure shows it: as numbers if all values are numbers.
std::optional<Value> value_at(const Column& column, std::size_t row, bool as_a_name) {
  if (!column.values[row])
    return std::nullopt;
  if (!as_a_name && column.is_numeric)
    return *column.number(row);
  return column.text(row);
}

void add_axes(const Source& source, const Plan& plan, const std::vector<Point>& points,
              const ShownLevels& levels, Chart& chart) {
  const bool x_is_a_name = plan.mark == Mark::bar || plan.mark == Mark::heatmap;
  const auto add = [&](std::size_t column, bool as_a_name) {
    const Column& from = source.columns[column];
    const std::size_t at = chart.data.add(from.title, from.unit);
    for (const Point& point : points)
      chart.data.at(at).values.push_back(value_at(from, point.row, as_a_name));
    return at;
  };
  chart.x = add(plan.x, x_is_a_name);
  chart.x_levels = levels.x;
  if (plan.row) {
    chart.row = add(*plan.row, true);
    chart.row_levels = levels.row;
  }
  const auto add_combined = [&](const std::vector<std::size_t>& columns, auto text) {
    const std::size_t at =
        chart.data.add(titles_of(source, columns, ", "),
                       columns.size() == 1 ? source.columns[columns[0]].unit : "");
    for (const Point& point : points)
      chart.data.at(at).values.emplace_back(point.*text);
    return at;
  };
  if (!plan.color.empty()) {
    chart.color = add_combined(plan.color, &Point::color);
    chart.color_levels = levels.color;
  }
  if (!plan.facet.empty()) {
    chart.facet = add_combined(plan.facet, &Point::facet);
    chart.facet_levels = levels.facet;
    chart.is_facet_combined = plan.facet.size() > 1;
  }
}

void add_measures(const Source& source, const Plan& plan, const std::vector<Point>& points,
                  Chart& chart) {
  for (std::size_t k = 0; k < plan.y.size(); ++k) {
    const Column& from = source.columns[plan.y[k]];
    Measure measure{.value = chart.data.add(from.title, from.unit)};
    const bool has_intervals =
        std::ranges::any_of(points, [&](const Point& point) { return point.y[k].low.has_value(); });
    if (has_intervals) {
      measure.low = chart.data.add(from.title + ", low", from.unit);
      measure.high = chart.data.add(from.title + ", high", from.unit);
    }
    for (std::size_t row = 0; row < points.size(); ++row)
      for (const double number : points[row].y[k].numbers)
        measure.numbers.emplace_back(row, number);
    if (measure.numbers.size() > most_points)
      measure.numbers.clear();
    for (const Point& point : points) {
      chart.data.at(measure.value).values.emplace_back(point.y[k].value);
      if (has_intervals) {
        chart.data.at(*measure.low).values.emplace_back(point.y[k].low);
        chart.data.at(*measure.high).values.emplace_back(point.y[k].high);
      }
    }
    chart.measures.push_back(measure);
  }
}

/// Where the ideal of a speed-up is 1; empty if that differs between the lines, or is not shown.
std::optional<double> baseline_x(const Source& source, const Plan& plan,
                                 const std::vector<Point>& points) {
  std::set<double> baselines;
  std::optional<double> smallest;
  for (const Point& point : points) {
    const auto x = source.columns[plan.x].number(point.row);
    const Shown& y = point.y.front();
    if (!x || *x <= 0 || !y.value)
      continue;
    if (y.is_baseline)
      baselines.insert(*x);
    if (!smallest || *x < *smallest)
      smallest = x;
  }
  if (!baselines.empty())
    return baselines.size() == 1 ? std::optional(*baselines.begin()) : std::nullopt;
  // A program that prints its speed-up does not say what it compares with.
  const bool begins_at_one = std::ranges::all_of(points, [&](const Point& point) {
    return source.columns[plan.x].number(point.row) != smallest ||
           point.y.front().value.value_or(1) == 1;
  });
  return begins_at_one ? smallest : std::nullopt;
}

/// `4 of 5` if only a part of the workpackages is done.
void add_completed(const std::vector<Point>& points, Chart& chart) {
  if (std::ranges::none_of(points, &Point::is_partial))
    return;
  chart.completed = chart.data.add("done");
  for (const Point& point : points)
    chart.data.at(*chart.completed)
        .values.push_back(point.is_partial() ? std::optional<Value>(point.completed())
                                             : std::nullopt);
}

/// The text of a cell that will have no value: `OOM`; empty where there is or may be one.
std::string mark_of(RowState state) {
  switch (state) {
    case RowState::out_of_memory:
      return "OOM";
    case RowState::failed:
    case RowState::skipped:
      return name_of(state);
    case RowState::done:
    case RowState::unfinished:
      break;
  }
  return "";
}

void add_states(const std::vector<Point>& points, Chart& chart) {
  const bool is_any_not_done =
      std::ranges::any_of(points, [](const Point& point) { return point.state != RowState::done; });
  if (!is_any_not_done)
    return;
  chart.state = chart.data.add("state");
  chart.mark_of_state = chart.data.add("mark");
  chart.reason = chart.data.add("reason");
  for (const Point& point : points) {
    chart.data.at(*chart.state).values.emplace_back(name_of(point.state));
    chart.data.at(*chart.mark_of_state).values.emplace_back(mark_of(point.state));
    const bool known = !point.reason.empty();
    chart.data.at(*chart.reason)
        .values.push_back(known ? std::optional<Value>(point.reason) : std::nullopt);
  }
}

/// Keeps only as many points of each line as are visible.
std::vector<Point> thinned_lines(const Plan& plan, std::vector<Point> points) {
  if (points.size() <= most_points || (plan.mark != Mark::line && plan.mark != Mark::step))
    return points;
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> lines;
  for (std::size_t k = 0; k < points.size(); ++k)
    lines[{points[k].color, points[k].facet}].push_back(k);
  std::set<std::size_t> kept;
  for (const auto& [line, members] : lines) {
    Envelope envelope(most_points);
    for (const std::size_t member : members)
      envelope.add({static_cast<double>(member), points[member].y.front().value.value_or(0)});
    for (const Envelope::Point& point : envelope.points())
      kept.insert(static_cast<std::size_t>(point.x));
  }
  std::vector<Point> fewer;
  for (const std::size_t k : kept)
    fewer.push_back(std::move(points[k]));
  return fewer;
}

/// Rows that differ only in parameters that the figure does not show become one point.
std::string pooled_note(const Source& source, const Plan& plan, std::size_t points) {
  const std::size_t rows = source.rows();
  if (points >= rows || plan.mark == Mark::step)
    return "";
  const std::string hidden = titles_of(source, hidden_parameters(source, plan), ", ");
  return fmt::format("{} rows in {} points: medians{}", rows, points,
                     hidden.empty() ? "" : " over " + hidden);
}

/// The parts of a stack, one below the other, with the rest of their total: a row for each part,
/// and one for a bar that has none.
void add_parts(const Source& source, const Plan& plan, const std::vector<Point>& points,
               Chart& chart) {
  std::vector<std::size_t> named{plan.x};
  named.insert(named.end(), plan.color.begin(), plan.color.end());
  const std::size_t bar = chart.data.add(named.size() == 1 ? source.columns[plan.x].title : "");
  const std::size_t part = chart.data.add("part");
  const std::size_t time = chart.data.add("time", source.columns[plan.y.front()].unit);
  const std::size_t order = chart.data.add("order");
  chart.x = bar;
  chart.color = part;
  chart.measures.push_back({.value = time, .low = {}, .high = {}});
  chart.row = order;
  for (const std::size_t y : plan.y)
    chart.color_levels.push_back(source.columns[y].title);
  if (plan.total)
    chart.color_levels.emplace_back("rest");
  std::vector<Point> of_rows;
  const auto add_row = [&](const Point& point, std::optional<Value> name,
                           std::optional<Value> number, std::size_t place) {
    chart.data.at(bar).values.emplace_back(chart.x_levels.back());
    chart.data.at(part).values.push_back(std::move(name));
    chart.data.at(time).values.push_back(std::move(number));
    chart.data.at(order).values.emplace_back(static_cast<long long>(place));
    of_rows.push_back(point);
  };
  for (const Point& point : points) {
    chart.x_levels.push_back(combined_text(source, named, point.row) +
                             (point.is_partial() ? fmt::format(" ({})", point.completed()) : ""));
    double sum = 0;
    for (std::size_t k = 0; k < plan.y.size(); ++k)
      if (point.y[k].value) {
        add_row(point, chart.color_levels[k], *point.y[k].value, k);
        sum += *point.y[k].value;
      }
    const auto total = plan.total ? point.y.back().value : std::nullopt;
    if (total && *total > sum)
      add_row(point, "rest", *total - sum, plan.y.size());
    if (point.state != RowState::done && sum == 0)
      add_row(point, std::nullopt, std::nullopt, 0);
  }
  add_states(of_rows, chart);
}

/// What the marks are, and what the values are or lack.
void add_notes_of_values(const Source& source, const Plan& plan, const Chart& chart,
                         std::vector<std::string>& notes) {
  const auto has = [&](auto is_in) {
    return plan.mark != Mark::heatmap && std::ranges::any_of(chart.measures, is_in);
  };
  if (has([](const Measure& one) { return one.low.has_value(); }))
    notes.emplace_back(
        "whiskers: 95 % confidence interval of the median, within the lowest and highest value");
  if (has([](const Measure& one) { return !one.numbers.empty(); }))
    notes.emplace_back("dots: the values behind each median");
  if (std::ranges::any_of(plan.y, [&](std::size_t y) { return source.columns[y].is_estimated; }))
    notes.emplace_back("estimated: from a model, not a measurement");
  for (const std::size_t y : plan.y)
    if (const Column& column = source.columns[y]; column.not_finite > 0)
      notes.push_back(fmt::format("nan or infinite values of {}, not drawn: {}", column.title,
                                  column.not_finite));
}

}  // namespace

Figure draw(const Source& source, const Plan& plan) {
  Plan with_total = plan;
  if (plan.total)
    with_total.y.push_back(*plan.total);
  std::vector<Point> points = points_of(source, with_total);
  const std::size_t found_points = points.size();
  Ideal ideal = plan.ideal;
  const auto ideal_from =
      ideal == Ideal::proportional ? baseline_x(source, plan, points) : std::nullopt;
  if (ideal == Ideal::proportional && !ideal_from)
    ideal = Ideal::none;
  const ShownLevels levels = limit(source, plan, points);
  const std::size_t all_points = points.size();
  points = thinned_lines(plan, std::move(points));
  Chart chart{.mark = plan.mark,
              .x_scale = plan.x_scale,
              .y_scale = plan.y_scale,
              .ideal = ideal,
              .baseline_x = ideal_from,
              .data = {}};
  Figure figure;
  figure.title = plan.title.empty() ? title_of(source, plan) : plan.title;
  figure.id = slug_of(source.name + " " + figure.title);
  figure.description = description_of(source, plan, points);
  if (plan.mark == Mark::stack) {
    add_parts(source, plan, points, chart);
  } else {
    add_axes(source, plan, points, levels, chart);
    add_measures(source, plan, points, chart);
    add_states(points, chart);
    add_completed(points, chart);
  }
  figure.panels = panels_of(chart);
  if (std::string note = pooled_note(source, plan, found_points); !note.empty())
    figure.notes.push_back(std::move(note));
  if (ideal != plan.ideal)
    figure.notes.emplace_back("no ideal: the figure has no baseline, or several");
  add_notes_of_values(source, plan, chart, figure.notes);
  figure.notes.insert(figure.notes.end(), levels.notes.begin(), levels.notes.end());
  if (chart.completed)
    figure.notes.emplace_back("a ring, or a text such as 4 of 5: the other workpackages failed");
  if (points.size() < all_points)
    figure.notes.push_back(
        fmt::format("{} of {} points, lowest and highest values kept", points.size(), all_points));
  figure.columns = chart.data.taken();
  return figure;
}

std::string slug_of(const std::string& text) {
  std::string slug;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)))
      slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!slug.empty() && slug.back() != '-')
      slug += '-';
  while (!slug.empty() && slug.back() == '-')
    slug.pop_back();
  return slug.empty() ? "figure" : slug.substr(0, 80);
}

void make_ids_unique(std::vector<Figure>& figures) {
  std::set<std::string> known;
  for (Figure& figure : figures)
    figure.id = unique_name(figure.id, known, '-');
}

}  // namespace bench::pages
