#pragma once

#include "data/fields.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bench::steps {

/// The types of numbers in data files. A field has float32 or int64.
enum class NumberType : std::uint8_t {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64
};

std::string_view name_of(NumberType type);  ///< `int16`
std::size_t bytes_of(NumberType type);
bool is_real(NumberType type);

/// float32 for real numbers, int64 for integers.
FieldType field_type(NumberType type);

/// The meaning of the numbers of a variable beside their type.
///
/// Source: CF Conventions 1.10, sections 2.5.1 and 8.1: real = scale_factor * stored + add_offset.
struct Packing {
  bool scaled = false;
  double scale = 1;
  double offset = 0;
  /// Stored numbers that stand for a missing value, compared after rounding to the stored type; NaN
  /// stands for every NaN.
  std::vector<double> missing;
  bool missing_as_nan = false;  ///< In a float32 field; otherwise they are errors.
};

/// The first number that cannot be converted.
struct BadNumber {
  std::size_t index;
  bool missing;  ///< Otherwise the field's type cannot hold it.
};

/// Converts stored numbers into those of a field.
/// @param numbers little endian, need not be aligned
/// @param memory for as many numbers of the field; may be that of `numbers` if both types are
/// equally
///        long
/// @pre the field is float32 if the numbers are real or scaled
std::optional<BadNumber> convert(std::string_view numbers, NumberType type, const Packing& packing,
                                 FieldType field, std::span<std::byte> memory);

}  // namespace bench::steps
