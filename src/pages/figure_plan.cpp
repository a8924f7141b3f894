#include "figure_plan.hpp"

#include "figure_source.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::pages {
namespace {

constexpr std::size_t most_values = 8;  ///< Values of a table that get their own figure.
constexpr std::size_t most_lines = 10;  ///< Lines that can be distinguished by colour.
constexpr std::size_t most_panels = 6;
constexpr std::size_t most_cells = 40;  ///< Along an axis of a heatmap.
constexpr std::size_t most_bars = 60;

/// The role of a parameter, guessed from its name in any spelling.
bool is_called(const Column& column, std::initializer_list<std::string_view> words) {
  const std::string name = to_lower(column.name);
  return std::ranges::any_of(
      words, [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

bool counts_devices(const Column& column) {
  return is_called(column, {"device", "gpu", "node", "process", "rank", "task", "core", "ipu"});
}

/// Chooses the figures of one table.
class Chooser {
 public:
  explicit Chooser(const Source& source)
      : source_(source), free_(free_parameters(source)), values_(shown_values(source)) {
    for (const std::size_t k : free_)
      levels_.push_back(source.columns[k].levels().size());
  }

  std::vector<Plan> chosen() {
    if (add_distribution())
      return plans_;
    if (free_.empty() || values_.empty())
      return {};
    add_scaling();
    add_parts();
    add_throughput_and_energy();
    add_to_solution();
    add_devices_against_node();
    for (const std::size_t value : values_)
      if (!used_.contains(value) && plans_.size() < most_values)
        add_default(value);
    return plans_;
  }

 private:
  const Column& column(std::size_t k) const { return source_.columns[k]; }
  std::size_t levels_of(std::size_t k) const {
    return levels_[static_cast<std::size_t>(std::ranges::find(free_, k) - free_.begin())];
  }
  /// More than one: a single point makes no line.
  bool is_axis(std::size_t k) const { return column(k).is_numeric && levels_of(k) > 1; }

  /// The numeric parameter on the x axis of lines: a batch size or the like, otherwise the one with
  /// most values; of several, the last, which varies fastest.
  std::optional<std::size_t> axis() const {
    std::optional<std::size_t> best;
    const auto worth = [&](std::size_t k) {
      return std::pair(is_called(column(k), {"batch"}), levels_of(k));
    };
    for (const std::size_t k : free_)
      if (is_axis(k) && (!best || worth(k) >= worth(*best)))
        best = k;
    return best;
  }

  /// Assigns the parameters that are not on an axis.
  void place_others(Plan& plan, bool colors) const {
    std::vector<std::size_t> others;
    for (const std::size_t k : free_)
      if (k != plan.x && (!plan.row || k != *plan.row))
        others.push_back(k);
    std::ranges::stable_sort(others, {}, [&](std::size_t k) { return levels_of(k); });
    std::size_t lines = 1;
    if (colors && !others.empty() && levels_of(others.back()) <= most_lines) {
      plan.color.push_back(others.back());
      lines = levels_of(others.back());
      others.pop_back();
    }
    if (!others.empty() && levels_of(others.back()) <= most_panels) {
      plan.facet.push_back(others.back());
      others.pop_back();
    }
    while (colors && !others.empty() && lines * levels_of(others.front()) <= most_lines) {
      plan.color.push_back(others.front());
      lines *= levels_of(others.front());
      others.erase(others.begin());
    }
    for (const std::size_t k : others) {
      plan.facet.push_back(k);
      if (combinations(source_, plan.facet) > panels_shown)
        plan.facet.pop_back();
    }
    std::ranges::sort(plan.color);
    std::ranges::sort(plan.facet);
  }

  void add(Plan plan, bool colors = true) {
    place_others(plan, colors);
    for (const std::size_t value : plan.y)
      used_.insert(value);
    plans_.push_back(std::move(plan));
  }

  bool add_distribution() {
    const std::size_t columns = source_.columns.size();
    if (!source_.is_distribution || columns < 2 || !column(columns - 2).is_numeric)
      return false;
    Plan plan{.mark = Mark::step, .x = columns - 2, .y = {columns - 1}};
    place_others(plan, true);
    plans_.push_back(std::move(plan));
    return true;
  }

  void add_scaling() {
    constexpr std::array<std::pair<std::string_view, Ideal>, 4> metrics{
        {{"speedup", Ideal::proportional},
         {"strong_efficiency", Ideal::constant},
         {"weak_efficiency", Ideal::constant},
         {"throughput_efficiency", Ideal::constant}}};
    for (const std::size_t value : values_)
      for (const auto& [name, ideal] : metrics) {
        if (column(value).name != name)
          continue;
        std::optional<std::size_t> over;
        for (const std::size_t k : free_)
          if (is_axis(k) &&
              (!over || (counts_devices(column(k)) && !counts_devices(column(*over)))))
            over = k;
        if (over)
          add({.x = *over,
               .y = {value},
               .ideal = counts_devices(column(*over)) ? ideal : Ideal::none});
      }
  }

  /// Times of which one is the sum of the others and a rest.
  void add_parts() {
    std::vector<std::size_t> times;
    for (const std::size_t value : measured_values(source_))
      if (column(value).quantity() == Quantity::time &&
          (times.empty() || column(value).unit == column(times[0]).unit))
        times.push_back(value);
    for (const std::size_t total : times) {
      std::vector<std::size_t> parts;
      for (const std::size_t time : times)
        if (time != total)
          parts.push_back(time);
      if (parts.size() < 2 || !is_total(total, parts))
        continue;
      if (source_.rows() > most_bars)
        return;
      Plan plan{.mark = Mark::stack,
                .x = free_.front(),
                .y = parts,
                .color = {free_.begin() + 1, free_.end()},
                .total = total};
      for (const std::size_t part : parts)
        used_.insert(part);
      plans_.push_back(std::move(plan));
      return;
    }
  }

  bool is_total(std::size_t total, const std::vector<std::size_t>& parts) const {
    bool any = false;
    for (std::size_t row = 0; row < source_.rows(); ++row) {
      const auto whole = column(total).number(row);
      if (!whole || !source_.is_done(row))
        continue;
      double sum = 0;
      for (const std::size_t part : parts)
        sum += column(part).number(row).value_or(0);
      if (sum > *whole * 1.001 || sum < *whole * 0.5)
        return false;
      any = true;
    }
    return any;
  }

  std::optional<std::size_t> first_of(std::initializer_list<Quantity> quantities) const {
    for (const Quantity quantity : quantities)
      for (const std::size_t value : values_)
        if (!used_.contains(value) && column(value).quantity() == quantity)
          return value;
    return std::nullopt;
  }

  void add_throughput_and_energy() {
    const auto over = axis();
    const auto rate = first_of({Quantity::rate});
    const auto energy = first_of({Quantity::per_energy, Quantity::energy});
    if (over && rate && energy) {
      add_heatmap(*rate);
      add({.x = *over, .y = {*rate, *energy}});
    }
  }

  /// Two heatmaps side by side: time and energy.
  void add_to_solution() {
    const auto time = first_of({Quantity::time});
    const auto energy = first_of({Quantity::energy});
    const auto grid = grid_of();
    if (time && energy && grid)
      add({.mark = Mark::heatmap, .x = grid->first, .y = {*time, *energy}, .row = grid->second},
          false);
  }

  /// Energies of the devices against that of the node, which contains them.
  void add_devices_against_node() {
    std::optional<std::size_t> node;
    std::optional<std::size_t> devices;
    for (const std::size_t value : values_) {
      if (column(value).quantity() != Quantity::energy)
        continue;
      if (!node && is_called(column(value), {"node", "pm_counters", "ipmi"}))
        node = value;
      else if (!devices && is_called(column(value), {"gpu", "nvml", "device"}))
        devices = value;
    }
    if (node && devices && column(*node).unit == column(*devices).unit)
      plans_.push_back({.mark = Mark::point,
                        .x = *devices,
                        .y = {*node},
                        .color = colored(),
                        .ideal = Ideal::equal});
  }

  std::vector<std::size_t> colored() const {
    for (const std::size_t k : free_)
      if (levels_of(k) <= most_lines)
        return {k};
    return {};
  }

  /// The two parameters of a heatmap: batch sizes on x, devices on y, if present.
  std::optional<std::pair<std::size_t, std::size_t>> grid_of() const {
    std::vector<std::size_t> fitting;
    for (const std::size_t k : free_)
      if (levels_of(k) <= most_cells)
        fitting.push_back(k);
    if (fitting.size() < 2)
      return std::nullopt;
    std::ranges::stable_sort(fitting, {}, [&](std::size_t k) {
      return std::tuple(!is_called(column(k), {"batch"}), !is_axis(k), !counts_devices(column(k)),
                        -static_cast<long long>(levels_of(k)));
    });
    return std::pair(fitting[0], fitting[1]);
  }

  bool has_failures() const {
    return std::ranges::any_of(source_.states, [](RowState state) {
      return state != RowState::done && state != RowState::unfinished;
    });
  }

  /// Whether a grid is worth a heatmap.
  void add_heatmap(std::size_t value) {
    const auto grid = grid_of();
    if (!grid)
      return;
    const bool both = levels_of(grid->first) > 2 && levels_of(grid->second) > 2;
    if (both || has_failures())
      add({.mark = Mark::heatmap, .x = grid->first, .y = {value}, .row = grid->second}, false);
  }

  void add_default(std::size_t value) {
    add_heatmap(value);
    if (const auto over = axis())
      add({.x = *over, .y = {value}});
    else if (levels_of(free_.front()) <= most_bars)
      add({.mark = Mark::bar, .x = free_.front(), .y = {value}});
  }

  const Source& source_;
  std::vector<std::size_t> free_;
  std::vector<std::size_t> values_;
  std::vector<std::size_t> levels_;  ///< Number of values of each free parameter.
  std::set<std::size_t> used_;
  std::vector<Plan> plans_;
};

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

std::vector<std::size_t> Plan::keys() const {
  std::vector<std::size_t> keys{x};
  if (row)
    keys.push_back(*row);
  keys.insert(keys.end(), color.begin(), color.end());
  keys.insert(keys.end(), facet.begin(), facet.end());
  return keys;
}

std::vector<std::size_t> hidden_parameters(const Source& source, const Plan& plan) {
  std::vector<std::size_t> placed = plan.keys();
  std::ranges::copy_if(plan.y, std::back_inserter(placed),
                       [&](std::size_t y) { return source.columns[y].is_parameter; });
  return free_parameters(source, placed);
}

std::vector<Plan> default_plans(const Source& source) {
  return Chooser(source).chosen();
}

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

}  // namespace bench::pages
