#include "invariant.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <bench/base/text.hpp>
#include <bench/results/format.hpp>

namespace bench::fuzz {
namespace {

/// The widest cell that a format can ask for, four bytes a character, and the longest real before
/// and behind its point.
constexpr std::size_t longest_number = 4 * 10'000 + 10'000 + 2 * 310;

/// Nothing where the format is wrong or does not fit.
std::optional<std::string> formatted(const Value& value, const std::string& format) {
  try {
    return results::format_value(value, format);
  } catch (const Error& error) {
    require(!error.message().empty(), "an error says what is wrong");
    return std::nullopt;
  }
}

void check(const Value& value, const std::string& format, std::size_t value_size) {
  const auto text = formatted(value, format);
  if (!text)
    return;
  require(text->size() <= longest_number + value_size, "a cell is no longer than its format says");
  const bool is_text =
      to_valid_utf8(format) == format && to_valid_utf8(to_text(value)) == to_text(value);
  if (is_text)
    require(to_valid_utf8(*text) == *text, "a cell is UTF-8 where its value and format are");
  if (format.empty())
    require(*text == to_text(value), "without a format a value is as str writes it");
}

/// Formats that take a number out of a text give what they give for the number.
void check_conversion(long long number, const std::string& format) {
  constexpr std::string_view converting = "bcdoxXeEfFgG%";
  constexpr long long exact_in_a_double = 1LL << 53;
  if (format.empty() || converting.find(format.back()) == std::string_view::npos ||
      std::abs(number) > exact_in_a_double)
    return;
  require(formatted(std::to_string(number), format) == formatted(number, format),
          "the text of a number is formatted as the number");
}

void check(const std::string& format, const std::string& word) {
  check(word, format, word.size());
  const Value real = to_value(word, ValueType::real);
  const Value integer = to_value(word, ValueType::integer);
  check(real, format, word.size());
  check(integer, format, word.size());
  if (const auto* number = std::get_if<long long>(&integer))
    check_conversion(*number, format);
}

}  // namespace
}  // namespace bench::fuzz

/// The first line is the format, the second the value.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bench;
  const std::string_view text = fuzz::text_of(data, size);
  const auto end = std::min(text.find('\n'), text.size());
  fuzz::check(std::string(text.substr(0, end)),
              std::string(text.substr(std::min(end + 1, text.size()))));
  return 0;
}
