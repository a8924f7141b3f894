#include "spread_text.hpp"

#include "grid.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/results/format.hpp>
#include <bench/results/table.hpp>

namespace bench::result {
namespace {

bool is_of_integers(const std::string& format) {
  return !format.empty() && std::string_view("bcdoxX").find(format.back()) != std::string::npos;
}

/// A number and a distance from it, which is above 0. Two digits of the distance where the first is
/// 1 or 2, which are rounded most, else one.
std::string rounded(double number, double distance) {
  constexpr int most_decimals = 6;
  constexpr int most_digits = 16;  // as many as Python's str writes without an exponent
  const int exponent = static_cast<int>(std::floor(std::log10(distance)));
  const int digits = distance / std::pow(10, exponent) < 3 ? 2 : 1;
  const int decimals = std::max(0, digits - 1 - exponent);
  const int of_number =
      number == 0 ? exponent : static_cast<int>(std::floor(std::log10(std::fabs(number))));
  if (decimals <= most_decimals && std::max(of_number, exponent) < most_digits)
    return fmt::format("{:.{}f} ± {:.{}f}", number, decimals, distance, decimals);
  return fmt::format("{:.{}e} ± {:.{}e}", number, std::max(0, of_number - exponent + digits - 1),
                     distance, digits - 1);
}

}  // namespace

std::string spread_text(const Cell& cell, const Heading& heading) {
  const Spread& spread = *cell.spread;
  const double distance = std::max(spread.high - spread.median, spread.median - spread.low);
  const bool is_exact = distance == 0;  // nearly all values are the same
  const std::string text =
      is_exact ? std::string(strip(value_text(cell, heading, Iterations::spread)))
      : cell.format.empty() || is_of_integers(cell.format)
          ? rounded(spread.median, distance)
          : fmt::format("{} ± {}", strip(format_value(spread.median, cell.format, heading.place)),
                        strip(format_value(distance, cell.format, heading.place)));
  return spread.outliers.empty() ? text : text + " *";
}

}  // namespace bench::result
