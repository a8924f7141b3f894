#pragma once

// Samples of fields as tests compare them.

#include "data/field_source.hpp"
#include "data/fields.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bench::steps {

/// Memory for one sample.
class SampleMemory {
 public:
  explicit SampleMemory(const std::vector<Field>& fields) : fields_(fields) {
    for (const Field& field : fields) {
      owners_.emplace_back(field.bytes());
      memory_.emplace_back(owners_.back());
    }
  }

  const FieldMemory& spans() const { return memory_; }

  /// The numbers of each field.
  std::map<std::string, std::vector<double>> numbers() const {
    std::map<std::string, std::vector<double>> result;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      std::vector<double>& numbers = result[fields_[i].name];
      if (fields_[i].type == FieldType::float32)
        for (const float number : floats(memory_[i]))
          numbers.push_back(number);
      else
        for (const std::int64_t number : integers(memory_[i]))
          numbers.push_back(static_cast<double>(number));
    }
    return result;
  }

 private:
  std::vector<Field> fields_;
  std::vector<std::vector<std::byte>> owners_;
  FieldMemory memory_;
};

/// The numbers of a sample by field.
inline std::map<std::string, std::vector<double>> read_sample(FieldSource::Reader& reader,
                                                              const FieldSource& source,
                                                              std::uint64_t sample) {
  const SampleMemory memory(source.fields());
  reader.read(sample, memory.spans());
  return memory.numbers();
}

inline std::map<std::string, std::vector<double>> read_sample(const FieldSource& source,
                                                              std::uint64_t sample) {
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
