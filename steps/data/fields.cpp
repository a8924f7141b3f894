#include "data/fields.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

namespace bench::steps {
namespace {

std::size_t bytes_of_one(FieldType type) {
  return type == FieldType::float32 ? sizeof(float) : sizeof(std::int64_t);
}

template <typename Number>
std::span<Number> numbers(std::span<std::byte> memory) {
  return {reinterpret_cast<Number*>(memory.data()), memory.size() / sizeof(Number)};
}

}  // namespace

std::int64_t Field::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::size_t Field::bytes() const {
  return static_cast<std::size_t>(elements()) * bytes_of_one(type);
}

std::size_t sample_bytes(const std::vector<Field>& fields) {
  std::size_t sum = 0;
  for (const Field& field : fields)
    sum += field.bytes();
  return sum;
}

SampleBuffer::SampleBuffer(const std::vector<Field>& fields) {
  for (const Field& field : fields)
    bytes_.emplace_back(field.bytes());
  memory_.assign(bytes_.begin(), bytes_.end());
}

std::span<float> floats(std::span<std::byte> memory) {
  return numbers<float>(memory);
}

std::span<std::int64_t> integers(std::span<std::byte> memory) {
  return numbers<std::int64_t>(memory);
}

}  // namespace bench::steps
