#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench::steps {

/// The numbers of a field, as they lie in memory.
enum class FieldType { float32, int64 };

/// A named part of a sample: an image, a label, a mask, fields on a grid, a vector of targets,
/// tokens.
struct Field {
  std::string name;  ///< `image`, `label`, `mask`, `target`, `tokens`, ...
  FieldType type = FieldType::float32;
  std::vector<std::int64_t> shape;  ///< Of one sample, slowest dimension first; empty: one number.

  std::int64_t elements() const;  ///< Numbers in one sample.
  std::size_t bytes() const;      ///< Of one sample.
  bool operator==(const Field&) const = default;
};

/// Bytes of one sample, in all of its fields.
std::size_t sample_bytes(const std::vector<Field>& fields);

/// Memory for one sample, or for the samples of a batch one after the other: a span for each field,
/// in the order of the fields, aligned for its type.
using FieldMemory = std::vector<std::span<std::byte>>;

/// Owns the memory of one sample.
class SampleBuffer {
 public:
  explicit SampleBuffer(const std::vector<Field>& fields);
  SampleBuffer(const SampleBuffer&) = delete;
  SampleBuffer& operator=(const SampleBuffer&) = delete;

  const FieldMemory& memory() const { return memory_; }

 private:
  std::vector<std::vector<std::byte>> bytes_;  ///< Of each field.
  FieldMemory memory_;
};

/// The numbers of a field.
std::span<float> floats(std::span<std::byte> memory);
std::span<std::int64_t> integers(std::span<std::byte> memory);

}  // namespace bench::steps
