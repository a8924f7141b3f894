#include "atmorep/token_info.hpp"

#include "atmorep/sizes.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bench::atmorep {
namespace {

struct Date {
  std::int64_t year;
  std::int64_t day;  ///< Of the year, from 0.
  double hour;       ///< Of the day.
};

Date date_of(double hours) {
  using namespace std::chrono;
  const double days_passed = std::floor(hours / 24);
  const sys_days day = sys_days(1900y / January / 1) + days(static_cast<int>(days_passed));
  const year_month_day date(day);
  return {.year = static_cast<int>(date.year()),
          .day = (day - sys_days(date.year() / January / 1)).count(),
          .hour = hours - 24 * days_passed};
}

}  // namespace

void fill_token_info(const Coordinates& at, const Sizes& sizes, std::span<float> info) {
  const auto coordinate = [](std::span<const float> numbers, std::int64_t index) {
    return static_cast<double>(numbers[static_cast<std::size_t>(index)]);
  };
  const double resolution =
      at.longitudes.size() > 1 ? coordinate(at.longitudes, 1) - coordinate(at.longitudes, 0) : 0;
  const auto& [times, rows, columns] = sizes.tokens;
  auto next = info.begin();
  for (std::int64_t level = 0; level < sizes.levels; ++level)
    for (std::int64_t time = 0; time < times; ++time) {
      const Date date = date_of(coordinate(at.hours, (time + 1) * sizes.token.times - 1));
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column) {
          const double height = coordinate(at.levels, level) / 1000;
          const std::array<double, token_info_count> numbers{
              static_cast<double>(date.year) / 2100,
              static_cast<double>(date.day) / 365,
              date.hour / 24,
              height,
              coordinate(at.latitudes, row * sizes.token.rows + sizes.token.rows / 2) / 90,
              coordinate(at.longitudes, column * sizes.token.columns + sizes.token.columns / 2) /
                  360,
              height,
              resolution};
          next = std::ranges::transform(numbers, next, [](double number) {
                   return static_cast<float>(number);
                 }).out;
        }
    }
}

}  // namespace bench::atmorep
