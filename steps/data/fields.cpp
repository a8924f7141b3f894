#include "data/fields.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench::steps {

std::int64_t Field::elements() const {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape)
    elements *= extent;
  return elements;
}

std::size_t Field::bytes() const {
  return static_cast<std::size_t>(elements()) *
         (type == FieldType::float32 ? sizeof(float) : sizeof(std::int64_t));
}

std::span<float> floats(std::span<std::byte> memory) {
  return {reinterpret_cast<float*>(memory.data()), memory.size() / sizeof(float)};
}

std::span<std::int64_t> integers(std::span<std::byte> memory) {
  return {reinterpret_cast<std::int64_t*>(memory.data()), memory.size() / sizeof(std::int64_t)};
}

}  // namespace bench::steps
