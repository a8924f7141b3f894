#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <bench/base/integer.hpp>
#include <bench/base/text.hpp>

namespace bench {
namespace {

/// No double has an exponent beyond these, and a slip of the pen must not fill the memory.
constexpr long long largest_exponent = 400;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// `12.5e3`: its digits `125`, and how many of them stand before the point, 5.
struct Decimal {
  std::string digits;
  long long before_point = 0;
};

std::optional<Decimal> take_apart(std::string_view text) {
  long long exponent = 0;
  if (const auto e = text.find_first_of("eE"); e != std::string_view::npos) {
    const auto written = parse_integer(text.substr(e + 1));
    if (!written || *written > largest_exponent || *written < -largest_exponent)
      return std::nullopt;
    exponent = *written;
    text = text.substr(0, e);
  }
  const auto point = std::min(text.find('.'), text.size());
  Decimal decimal{.digits = std::string(text.substr(0, point)),
                  .before_point = static_cast<long long>(point) + exponent};
  decimal.digits += text.substr(std::min(point + 1, text.size()));
  if (decimal.digits.empty() || !std::ranges::all_of(decimal.digits, is_digit))
    return std::nullopt;
  return decimal;
}

}  // namespace

std::optional<WrittenInteger> read_integer(std::string_view text) {
  const std::string plain = without_digit_separators(strip(text));
  std::string_view unsigned_text = plain;
  const bool negative = unsigned_text.starts_with('-');
  if (negative || unsigned_text.starts_with('+'))
    unsigned_text.remove_prefix(1);
  const auto decimal = take_apart(unsigned_text);
  if (!decimal)
    return std::nullopt;
  std::string digits = decimal->digits;
  const auto whole = static_cast<std::size_t>(std::max(decimal->before_point, 0LL));
  const std::string fraction = digits.substr(std::min(whole, digits.size()));
  digits.resize(whole, '0');
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  const bool is_whole = fraction.find_first_not_of('0') == std::string::npos;
  if (digits.empty())
    return WrittenInteger{"0", is_whole};
  return WrittenInteger{(negative ? "-" : "") + digits, is_whole};
}

int compare_integers(std::string_view a, std::string_view b) {
  const bool negative = a.starts_with('-');
  if (negative != b.starts_with('-'))
    return negative ? -1 : 1;
  // Without zeros in front the longer one is the greater one; a minus sign is in both or in none.
  const int order = a.size() != b.size() ? (a.size() < b.size() ? -1 : 1) : a.compare(b);
  return negative ? -order : order;
}

std::string without_digit_separators(std::string_view text) {
  std::string plain;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const bool between =
        k > 0 && k + 1 < text.size() && is_digit(text[k - 1]) && is_digit(text[k + 1]);
    if (text[k] != '_' || !between)
      plain += text[k];
  }
  return plain;
}

}  // namespace bench
