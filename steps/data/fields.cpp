#include "data/fields.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
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

namespace {

/// Calls `work` with a number of that type.
template <typename Work>
auto with_number(NumberType type, Work&& work) {
  switch (type) {
    case NumberType::int8:
      return work(std::int8_t{});
    case NumberType::uint8:
      return work(std::uint8_t{});
    case NumberType::int16:
      return work(std::int16_t{});
    case NumberType::uint16:
      return work(std::uint16_t{});
    case NumberType::int32:
      return work(std::int32_t{});
    case NumberType::uint32:
      return work(std::uint32_t{});
    case NumberType::int64:
      return work(std::int64_t{});
    case NumberType::uint64:
      return work(std::uint64_t{});
    case NumberType::float32:
      return work(float{});
    case NumberType::float64:
      return work(double{});
  }
  throw std::logic_error("unknown type of numbers");
}

enum class Fault : std::uint8_t { none, missing, too_large };

template <typename To, typename From>
Fault narrow(From number, To& result) {
  if constexpr (std::integral<To>) {
    if (!std::in_range<To>(number))
      return Fault::too_large;
  } else if constexpr (std::same_as<From, double>) {
    if (std::isfinite(number) && std::abs(number) > std::numeric_limits<To>::max())
      return Fault::too_large;
  }
  result = static_cast<To>(number);
  return Fault::none;
}

/// An attribute may have another type than its variable: as a float, 1e20 is not the double 1e20.
template <typename Number>
bool is_missing(Number number, const Packing& packing) {
  return std::ranges::any_of(packing.missing, [&](double missing) {
    if constexpr (std::floating_point<Number>) {
      Number same{};
      return (narrow(missing, same) == Fault::none && number == same) ||
             (std::isnan(number) && std::isnan(missing));
    } else {
      return static_cast<double>(number) == missing;
    }
  });
}

template <typename To, typename From>
Fault unpack(From stored, const Packing& packing, To& result) {
  if (is_missing(stored, packing)) {
    if (!std::floating_point<To> || !packing.missing_as_nan)
      return Fault::missing;
    result = std::numeric_limits<To>::quiet_NaN();
    return Fault::none;
  }
  if constexpr (std::floating_point<To>)
    if (packing.scaled)
      return narrow(packing.scale * static_cast<double>(stored) + packing.offset, result);
  return narrow(stored, result);
}

/// @param convert_one turns a stored number into a result
template <typename From, typename To, typename ConvertOne>
std::optional<BadNumber> convert_all(std::string_view numbers, std::byte* memory,
                                     ConvertOne convert_one) {
  for (std::size_t i = 0; i < numbers.size() / sizeof(From); ++i) {
    From stored;
    To result;
    std::memcpy(&stored, numbers.data() + i * sizeof(From), sizeof(From));
    if (const Fault fault = convert_one(stored, result); fault != Fault::none)
      return BadNumber{.index = i, .missing = fault == Fault::missing};
    std::memcpy(memory + i * sizeof(To), &result, sizeof(To));
  }
  return std::nullopt;
}

template <typename From, typename To>
std::optional<BadNumber> convert_between(std::string_view numbers, const Packing& packing,
                                         std::byte* memory) {
  if (packing.scaled || !packing.missing.empty())
    return convert_all<From, To>(
        numbers, memory, [&](From stored, To& result) { return unpack(stored, packing, result); });
  if constexpr (!std::same_as<From, To>)
    return convert_all<From, To>(numbers, memory, narrow<To, From>);
  std::memmove(memory, numbers.data(), numbers.size());
  return std::nullopt;
}

}  // namespace

std::string_view name_of(NumberType type) {
  static constexpr std::string_view names[] = {"int8",   "uint8", "int16",  "uint16",  "int32",
                                               "uint32", "int64", "uint64", "float32", "float64"};
  return names[static_cast<std::size_t>(type)];
}

std::size_t bytes_of(NumberType type) {
  return with_number(type, [](auto number) { return sizeof(number); });
}

bool is_real(NumberType type) {
  return type == NumberType::float32 || type == NumberType::float64;
}

FieldType field_type(NumberType type) {
  return is_real(type) ? FieldType::float32 : FieldType::int64;
}

std::optional<BadNumber> convert(std::string_view numbers, NumberType type, const Packing& packing,
                                 FieldType field, std::span<std::byte> memory) {
  return with_number(type, [&]<typename From>(From) -> std::optional<BadNumber> {
    if (field == FieldType::float32)
      return convert_between<From, float>(numbers, packing, memory.data());
    if constexpr (std::integral<From>)
      return convert_between<From, std::int64_t>(numbers, packing, memory.data());
    throw std::logic_error("real numbers are not converted to integers");
  });
}

}  // namespace bench::steps
