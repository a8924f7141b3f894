#include <cmath>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>

namespace bench {

ValueType value_type(const std::string& word) {
  if (word == "int")
    return ValueType::integer;
  return word == "float" ? ValueType::real : ValueType::string;
}

Value to_value(const std::string& text, ValueType type) {
  if (type == ValueType::string)
    return text;
  const std::string_view digits = strip(text);
  if (type == ValueType::integer)
    if (const auto integer = parse_integer(digits))
      return *integer;
  const auto number = parse_number(digits);
  if (!number)
    return text;
  // Beyond 2^63 a double has no integer to truncate to.
  if (type == ValueType::integer && std::fabs(*number) < 9.2e18)
    return static_cast<long long>(*number);
  return *number;
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
