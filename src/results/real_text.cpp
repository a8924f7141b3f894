#include "real_text.hpp"

#include "format_spec.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include <bench/base/text.hpp>

namespace bench::result {
namespace {

/// `#` promises a point: put before the exponent or at the end where there is none.
std::string with_point(std::string text) {
  if (text.find('.') == std::string::npos)
    text.insert(std::min(text.find_first_of("eE"), text.size()), 1, '.');
  return text;
}

std::string without_trailing_zeros(std::string text) {
  const std::string exponent = text.substr(std::min(text.find('e'), text.size()));
  text.resize(text.size() - exponent.size());
  if (text.find('.') != std::string::npos) {
    text.resize(text.find_last_not_of('0') + 1);
    if (text.ends_with('.'))
      text.pop_back();
  }
  return text + exponent;
}

/// `precision` significant digits, an exponent outside of 1e-4 <= x < 10^largest_exponent. Source:
/// the general format of C (ISO C17 7.21.6.1), whose largest exponent is the precision.
std::string general(double magnitude, int precision, int largest_exponent, bool keep_zeros) {
  std::string text = fmt::format("{:.{}e}", magnitude, precision - 1);
  const int exponent = std::stoi(text.substr(text.find('e') + 1));
  if (exponent >= -4 && exponent < largest_exponent)
    text = fmt::format("{:.{}f}", magnitude, precision - 1 - exponent);
  return keep_zeros ? with_point(text) : without_trailing_zeros(text);
}

/// Without a type: Python's `str`, and with a precision the general format that keeps one decimal.
std::string untyped(double magnitude, const FormatSpec& spec) {
  if (!spec.precision)
    return spec.alternate ? with_point(python_float(magnitude)) : python_float(magnitude);
  const int precision = std::max(*spec.precision, 1);
  std::string text = general(magnitude, precision, precision - 1, spec.alternate);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

std::string finite_text(double magnitude, const FormatSpec& spec) {
  const int precision = spec.precision.value_or(6);
  std::string text;
  switch (spec.type) {
    case 0:
      return untyped(magnitude, spec);
    case 'e':
    case 'E':
      text = fmt::format("{:.{}e}", magnitude, precision);
      break;
    case 'f':
    case 'F':
    case '%':
      text = fmt::format("{:.{}f}", magnitude, precision);
      break;
    default:
      return general(magnitude, std::max(precision, 1), std::max(precision, 1), spec.alternate);
  }
  return spec.alternate ? with_point(text) : text;
}

}  // namespace

std::string real_text(double magnitude, const FormatSpec& spec) {
  if (spec.type == '%')
    magnitude *= 100;
  std::string text = std::isfinite(magnitude) ? finite_text(magnitude, spec)
                                              : (std::isnan(magnitude) ? "nan" : "inf");
  if (spec.has_type("EFG"))
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return spec.type == '%' ? text + '%' : text;
}

}  // namespace bench::result
