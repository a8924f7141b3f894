#pragma once

// Memory for the fields of samples.

#include "data/fields.hpp"
#include "data/sample_loader.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
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

}  // namespace bench::steps
