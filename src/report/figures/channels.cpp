#include "channels.hpp"

#include "levels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/report/figures/figure.hpp>
#include <bench/report/figures/plan.hpp>
#include <bench/report/figures/source.hpp>

namespace bench::report {
namespace {

/// More ticks would not fit side by side.
constexpr std::size_t most_ticks = 14;

/// A format of d3 for numbers up to this.
const char* tick_format(double largest, bool whole) {
  if (largest >= 1e5)
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
  if (largest >= 1e5)
    channel["axis"]["format"] = "~s";
  else if (largest < 1e-3)
    channel["axis"]["format"] = "~g";
  const bool wide = low > 0 && high / low > 100;
  if (!from_zero && low > 0 && (scale == Scale::log || (scale == Scale::automatic && wide)))
    channel["scale"] = {{"type", "log"}};
  else
    channel["scale"] = {{"zero", from_zero || scale != Scale::fit}};
  return channel;
}

Json measure_axis(const Data& data, std::size_t column, Scale scale) {
  const std::vector<double> numbers = numbers_of(data.at(column));
  // Not rounded up after the padding, which would show times before the beginning.
  Json channel{{"field", field(column)},
               {"type", "quantitative"},
               {"title", label(data.at(column))},
               {"axis", {{"titleLimit", 400}}},
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

}  // namespace bench::report
