#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <bench/base/integer.hpp>
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

}  // namespace bench
