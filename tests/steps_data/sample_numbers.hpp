#pragma once

// Samples of fields as tests compare them.

#include "data/fields.hpp"
#include "steps_data/field_buffers.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench::steps {

/// The numbers of a sample by field, all of which a double holds.
using SampleNumbers = std::map<std::string, std::vector<double>>;

inline SampleNumbers numbers_of(FieldBuffers& sample, const std::vector<Field>& fields) {
  SampleNumbers numbers;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].type == FieldType::float32)
      for (const float number : sample.floats_of(i))
        numbers[fields[i].name].push_back(number);
    else
      for (const std::int64_t number : sample.integers_of(i))
        numbers[fields[i].name].push_back(static_cast<double>(number));
  return numbers;
}

inline SampleNumbers read_sample(FieldSource::Reader& reader, const FieldSource& source,
                                 std::uint64_t sample) {
  FieldBuffers buffers(source.fields());
  reader.read(sample, buffers.memory());
  return numbers_of(buffers, source.fields());
}

inline SampleNumbers read_sample(const FieldSource& source, std::uint64_t sample) {
  return read_sample(*source.reader(), source, sample);
}

/// The numbers first, first + 1, ...
inline std::vector<double> numbers_from(std::uint64_t first, std::uint64_t count) {
  std::vector<double> numbers;
  for (std::uint64_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<double>(first + i));
  return numbers;
}

}  // namespace bench::steps
