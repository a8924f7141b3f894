#include "data/fields.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
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

namespace {

class MadeFields : public FieldSource {
 public:
  MadeFields(std::vector<Field> fields, std::uint64_t samples, std::optional<std::uint64_t> bytes,
             std::function<FillSample()> make_function)
      : fields_(std::move(fields)),
        samples_(samples),
        bytes_(bytes),
        make_function_(std::move(make_function)) {}

  const std::vector<Field>& fields() const override { return fields_; }
  std::uint64_t samples() const override { return samples_; }
  std::optional<std::uint64_t> bytes() const override { return bytes_; }
  std::unique_ptr<Reader> reader() const override {
    return std::make_unique<FunctionReader>(make_function_());
  }

 private:
  class FunctionReader : public Reader {
   public:
    explicit FunctionReader(FillSample function) : function_(std::move(function)) {}

    void read(std::uint64_t sample, const FieldMemory& memory) override {
      function_(sample, memory);
    }

   private:
    FillSample function_;
  };

  std::vector<Field> fields_;
  std::uint64_t samples_;
  std::optional<std::uint64_t> bytes_;
  std::function<FillSample()> make_function_;
};

}  // namespace

std::unique_ptr<FieldSource> made_fields(std::vector<Field> fields, std::uint64_t samples,
                                         std::optional<std::uint64_t> bytes,
                                         std::function<FillSample()> make_function) {
  return std::make_unique<MadeFields>(std::move(fields), samples, bytes, std::move(make_function));
}

}  // namespace bench::steps
