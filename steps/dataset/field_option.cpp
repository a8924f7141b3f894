#include "dataset/field_option.hpp"

#include "data/fields.hpp"
#include "data/synthetic_fields.hpp"
#include "harness/program.hpp"
#include "harness/whole_number.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace bench::dataset {
namespace {

using steps::Distribution;
using steps::FieldType;
using steps::SyntheticField;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::int32_t> positive_number(std::string_view digits) {
  const auto number = steps::whole_number<std::int32_t>(digits);
  return number && *number > 0 ? number : std::nullopt;
}

/// Turns an option into a field, part by part.
class FieldParser {
 public:
  explicit FieldParser(const std::string& option) : option_(option) {}

  SyntheticField parse() {
    const std::vector<std::string_view> parts = split(option_, ':');
    if (parts.size() < 3 || parts.size() > 4 || parts[0].empty())
      fail("expected NAME:TYPE:SHAPE or NAME:TYPE:SHAPE:VALUES");
    result_.field.name = parts[0];
    read_type(parts[1]);
    if (!parts[2].empty())
      read_shape(parts[2]);
    result_.bound = 2;
    if (parts.size() == 4)
      read_values(parts[3]);
    return result_;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw steps::UsageError(
        fmt::format("--field {}: {}", option_, message),
        "for example --field image:float32:768x1152x16 --field label:int64::10");
  }

  void read_type(std::string_view type) {
    if (type != "float32" && type != "int64")
      fail(fmt::format("'{}' is neither float32 nor int64", type));
    result_.field.type = type == "int64" ? FieldType::int64 : FieldType::float32;
  }

  void read_shape(std::string_view shape) {
    constexpr std::int64_t most_elements = std::int64_t{1} << 31;
    for (const std::string_view text : split(shape, 'x')) {
      const auto extent = positive_number(text);
      if (!extent)
        fail(fmt::format("'{}' is not a shape", shape));
      result_.field.shape.push_back(*extent);
      if (result_.field.elements() > most_elements)
        fail("a sample has more than 2^31 numbers");
    }
  }

  void read_values(std::string_view values) {
    if (result_.field.type == FieldType::float32) {
      if (values != "normal" && values != "uniform")
        fail(fmt::format("'{}' is neither normal nor uniform", values));
      result_.distribution = values == "normal" ? Distribution::normal : Distribution::uniform;
      return;
    }
    const auto bound = positive_number(values);
    if (!bound)
      fail(fmt::format("'{}' is not a number of values", values));
    result_.bound = static_cast<std::uint32_t>(*bound);
  }

  const std::string& option_;
  SyntheticField result_;
};

}  // namespace

SyntheticField parse_field(const std::string& option) {
  return FieldParser(option).parse();
}

}  // namespace bench::dataset
