#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>

namespace bench {
namespace {

/// As Python's float(), zero or infinite beyond the range of a double.
std::optional<double> python_number(const std::string& text) {
  if (const auto number = parse_number(text))
    return number;
  std::string_view absolute = text;
  if (absolute.starts_with('+') || absolute.starts_with('-'))
    absolute.remove_prefix(1);
  const char* const end = absolute.data() + absolute.size();
  double unused = 0;
  const auto [rest, error] = std::from_chars(absolute.data(), end, unused);
  if (error != std::errc::result_out_of_range || rest != end || absolute.starts_with('-'))
    return std::nullopt;
  return std::strtod(text.c_str(), nullptr);
}

}  // namespace

ValueType value_type(const std::string& word) {
  if (word == "int")
    return ValueType::integer;
  return word == "float" ? ValueType::real : ValueType::string;
}

Value to_value(const std::string& text, ValueType type) {
  if (type == ValueType::string)
    return text;
  if (type == ValueType::integer) {
    if (const auto plain = parse_integer(strip(text)))
      return *plain;
    if (auto integer = read_integer(text)) {
      if (const auto fitting = parse_integer(integer->digits))
        return *fitting;
      return std::move(integer->digits);
    }
  }
  const auto number = python_number(without_digit_separators(strip(text)));
  if (!number)
    return text;
  return *number;
}

std::optional<double> as_number(const Value& value) {
  struct Reader {
    std::optional<double> operator()(long long integer) const {
      return static_cast<double>(integer);
    }
    std::optional<double> operator()(double real) const { return real; }
    std::optional<double> operator()(const std::string&) const { return std::nullopt; }
  };
  return std::visit(Reader{}, value);
}

std::string to_text(const Value& value) {
  struct Writer {
    std::string operator()(long long integer) const { return std::to_string(integer); }
    std::string operator()(double real) const { return python_float(real); }
    std::string operator()(const std::string& string) const { return string; }
  };
  return std::visit(Writer{}, value);
}

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
