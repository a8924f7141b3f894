#pragma once

// Samples of fields as tests make, read and compare them.

#include "data/array_fields.hpp"
#include "data/fields.hpp"
#include "data/sample_loader.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace bench::steps {

/// Memory for some samples, one after the other, a buffer for each field.
class FieldBuffers {
 public:
  explicit FieldBuffers(const std::vector<Field>& fields, std::size_t samples = 1) {
    for (const Field& field : fields)
      buffers_.emplace_back(field.bytes() * samples);
  }

  FieldMemory memory() { return {buffers_.begin(), buffers_.end()}; }

  std::vector<float> floats_of(std::size_t field) { return copied(floats(buffers_[field])); }
  std::vector<std::int64_t> integers_of(std::size_t field) {
    return copied(integers(buffers_[field]));
  }

  bool operator==(const FieldBuffers&) const = default;

 private:
  template <typename Number>
  static std::vector<Number> copied(std::span<Number> numbers) {
    return {numbers.begin(), numbers.end()};
  }

  std::vector<std::vector<std::byte>> buffers_;
};

/// A sample, in memory of its own.
inline FieldBuffers made(SampleMaker& maker, std::uint64_t sample) {
  FieldBuffers buffers(maker.fields());
  maker.make(sample, buffers.memory());
  return buffers;
}

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

/// Fields with the names of their variables, along the first dimension of each.
inline ArrayLayout samples_of(const std::vector<std::string>& variables) {
  ArrayLayout layout;
  for (const std::string& variable : variables)
    layout.fields.push_back({.name = variable, .axes = {Axis::sample}});
  return layout;
}

}  // namespace bench::steps
