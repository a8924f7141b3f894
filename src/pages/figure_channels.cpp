#include "figure_channels.hpp"

#include "figure_plan.hpp"
#include "figure_source.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/pages/figure.hpp>

namespace bench::pages {
namespace {

/// More ticks would not fit side by side.
constexpr std::size_t most_ticks = 14;

bool is_bytes(const FigureColumn& column) {
  constexpr std::array<std::string_view, 3> units{"B", "byte", "bytes"};
  if (!column.unit.empty())
    return std::ranges::find(units, column.unit) != units.end();
  const std::string title = to_lower(column.title);
  return title == "bytes" || title.ends_with("_bytes");
}

/// An expression for the label of a number: `32 KiB`, or `32Ki` without a unit.
/// @param number an expression of it
std::string binary_label(const char* number, std::string_view unit) {
  const std::string_view blank = unit.empty() ? "" : " ";
  std::string text = fmt::format("format({}, '.4~g') + '{}{}'", number, blank, unit);
  double size = 1;
  for (const char* prefix : {"Ki", "Mi", "Gi", "Ti", "Pi"}) {
    size *= 1024;
    text = fmt::format("(abs({0}) < {1:.0f} ? {2} : format({0} / {1:.0f}, '.4~g') + '{3}{4}{5}')",
                       number, size, text, blank, prefix, unit);
  }
  return text;
}

/// Ticks of an axis of bytes at multiples of a power of 2; those of a decimal axis are no round
/// numbers of MiB.
std::vector<double> byte_ticks(double low, double high) {
  constexpr double fewest = 4;
  if (high <= low)
    return {};
  const double step = std::exp2(std::floor(std::log2((high - low) / fewest)));
  std::vector<double> ticks;
  for (double tick = std::ceil(low / step) * step; tick <= high; tick += step)
    ticks.push_back(tick);
  return ticks;
}

/// Pixels beside an axis, in which a label may end; a longer one would be clipped. The padding in
/// figure.js.
constexpr int room_beside_axis = 10;

constexpr double most_written_out = 1e5;

/// A format of d3 for numbers up to this.
const char* tick_format(double largest, bool whole) {
  if (largest >= most_written_out)
    return "~s";
  return whole ? "d" : ".6~g";
}

bool are_whole(std::span<const double> numbers) {
  return std::ranges::all_of(numbers, [](double one) { return one == std::round(one); });
}

}  // namespace

std::string field(std::size_t column) {
  return fmt::format("c{}", column);
}

std::string label(const FigureColumn& column) {
  return column.unit.empty() ? column.title : fmt::format("{} [{}]", column.title, column.unit);
}

std::string bytes_label(const FigureColumn& column, const char* number) {
  return is_bytes(column) ? binary_label(number, "B") : "";
}

void label_bytes(const FigureColumn& column, const char* number, const char* guide, Json& channel) {
  if (std::string expression = bytes_label(column, number); !expression.empty()) {
    channel[guide]["labelExpr"] = std::move(expression);
    channel[guide].erase("format");
  }
}

std::vector<double> numbers_of(const FigureColumn& column) {
  std::vector<double> numbers;
  for (const auto& value : column.values)
    if (value)
      if (const auto number = as_number(*value); number && std::isfinite(*number))
        numbers.push_back(*number);
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

Json measure(const Data& data, std::size_t column, Scale scale, bool from_zero) {
  const std::vector<double> numbers = numbers_of(data.at(column));
  Json channel{{"field", field(column)},
               {"type", "quantitative"},
               {"title", label(data.at(column))},
               {"axis", {{"titleLimit", 400}}}};
  if (numbers.empty())
    return channel;
  const double low = numbers.front();
  const double high = numbers.back();
  const double largest = std::max(std::abs(low), std::abs(high));
  if (largest >= most_written_out)
    channel["axis"]["format"] = "~s";
  else if (largest < 1e-3)
    channel["axis"]["format"] = "~g";
  const bool wide = low > 0 && high / low > 100;
  if (!from_zero && low > 0 && (scale == Scale::log || (scale == Scale::automatic && wide)))
    channel["scale"] = {{"type", "log"}};
  else
    channel["scale"] = {{"zero", from_zero || scale != Scale::fit}};
  label_bytes(data.at(column), "datum.value", "axis", channel);
  if (is_bytes(data.at(column)) && !channel["scale"].contains("type"))
    channel["axis"]["values"] =
        byte_ticks(channel["scale"]["zero"] ? std::min(low, 0.0) : low, std::max(high, 0.0));
  return channel;
}

Json measure_axis(const Data& data, std::size_t column, Scale scale) {
  const std::vector<double> numbers = numbers_of(data.at(column));
  // Not rounded up after the padding, which would show times before the beginning.
  Json channel{{"field", field(column)},
               {"type", "quantitative"},
               {"title", label(data.at(column))},
               {"axis", {{"titleLimit", 400}, {"labelBound", room_beside_axis}}},
               {"scale", {{"zero", false}, {"padding", 12}, {"nice", false}}}};
  if (numbers.empty())
    return channel;
  const auto base = base_of_powers(numbers);
  if (scale == Scale::log && numbers.front() > 0)
    channel["scale"] = {{"type", "log"}, {"padding", 12}, {"nice", false}};
  if (base && (scale == Scale::automatic || scale == Scale::log))
    channel["scale"] = {{"type", "log"}, {"base", *base}, {"padding", 12}, {"nice", false}};
  const bool whole = are_whole(numbers);
  channel["axis"]["format"] = tick_format(numbers.back(), whole);
  if (numbers.size() <= most_ticks && scale != Scale::linear)
    channel["axis"]["values"] = numbers;
  else if (whole)
    channel["axis"]["tickMinStep"] = 1;
  label_bytes(data.at(column), "datum.value", "axis", channel);
  const bool are_powers_of_2 =
      base == 2 && whole && std::has_single_bit(static_cast<unsigned long long>(numbers.front()));
  if (data.at(column).unit.empty() && are_powers_of_2 && numbers.back() >= most_written_out) {
    channel["axis"]["labelExpr"] =
        binary_label("datum.value", is_bytes(data.at(column)) ? "B" : "");
    channel["axis"].erase("format");
  }
  return channel;
}

std::string cell_format(std::span<const double> numbers) {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (const double number : numbers) {
    if (number != 0)
      smallest = std::min(smallest, std::abs(number));
    largest = std::max(largest, std::abs(number));
  }
  if (largest >= 1e5)
    return ".3~s";
  if (largest >= 1000)
    return smallest >= 10 ? ".0f" : ".5~g";
  if (largest < 1e-3)
    return ".3~g";
  // Two digits of the range, so that different colours have different texts; more would not fit.
  constexpr int most_digits = 4;
  const double range = numbers.size() > 1 ? (numbers.back() - numbers.front()) / largest : 1;
  const int digits =
      std::clamp(2 - static_cast<int>(std::floor(std::log10(range))), 3, most_digits);
  return fmt::format(".{}~r", digits);
}

Json names(const Data& data, std::size_t column, std::span<const std::string> order) {
  return {{"field", field(column)},
          {"type", "nominal"},
          {"title", label(data.at(column))},
          {"sort", std::vector<std::string>(order.begin(), order.end())}};
}

Json colors(const Data& data, std::size_t column, std::span<const std::string> order) {
  const std::vector<std::string> domain(order.begin(), order.end());
  Json channel = names(data, column, order);
  channel["scale"] = {{"domain", domain}};
  channel["legend"] = {{"orient", "bottom"}, {"labelLimit", 300}, {"titleLimit", 300}};
  label_bytes(data.at(column), "toNumber(datum.label)", "legend", channel);
  return channel;
}

Json tooltip(const Data& data, std::span<const std::size_t> columns) {
  Json all = Json::array();
  for (const std::size_t column : columns)
    all.push_back({{"field", field(column)}, {"title", label(data.at(column))}});
  return all;
}

Json is_valid(std::size_t column) {
  return {{"filter", {{"field", field(column)}, {"valid", true}}}};
}

Json is_equal(std::size_t column, const std::string& text) {
  return {{"filter", {{"field", field(column)}, {"equal", text}}}};
}

Json is_not_done(std::size_t state_column) {
  return {{"filter",
           {{"field", field(state_column)},
            {"oneOf",
             {name_of(RowState::out_of_memory), name_of(RowState::failed),
              name_of(RowState::skipped)}}}}};
}

int longest(std::span<const std::string> texts) {
  std::size_t longest = 0;
  for (const std::string& text : texts)
    longest = std::max(longest, display_width(text));
  return static_cast<int>(longest);
}

}  // namespace bench::pages
