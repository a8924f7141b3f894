#include "data/fields.hpp"

#include "steps_data/hex.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

struct FieldCase {
  std::string name;
  Field field;
  std::int64_t elements;
  std::size_t bytes;
};
TEST(Field, CountsNumbersAndBytesOfASample) {
  const FieldCase cases[] = {
      {"Image", {"image", FieldType::float32, {3, 8, 10}}, 240, 960},
      {"Label", {"label", FieldType::int64, {}}, 1, 8},
      {"Number", {"target", FieldType::float32, {}}, 1, 4},
      {"Empty", {"nothing", FieldType::int64, {0, 5}}, 0, 0},
      // DeepCAM with more than 2^31 bytes.
      {"Large", {"grid", FieldType::float32, {48, 16, 768, 1152}}, 679'477'248, 2'717'908'992}};
  for (const FieldCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(c.field.elements(), c.elements);
    EXPECT_EQ(c.field.bytes(), c.bytes);
  }
}

TEST(Fields, OfASampleAddUp) {
  EXPECT_EQ(sample_bytes({{"image", FieldType::float32, {3, 2, 2}},
                          {"mask", FieldType::int64, {2, 2}},
                          {"weight", FieldType::float32, {}}}),
            12 * 4U + 4 * 8U + 4U);
}

TEST(Fields, AreTheNumbersInTheirMemory) {
  std::vector<float> values(3);
  const std::span<float> as_floats = floats(std::as_writable_bytes(std::span(values)));
  ASSERT_EQ(as_floats.size(), 3U);
  as_floats[2] = 1.5F;
  EXPECT_EQ(values[2], 1.5F);
  std::vector<std::int64_t> labels(2);
  const std::span<std::int64_t> as_integers = integers(std::as_writable_bytes(std::span(labels)));
  ASSERT_EQ(as_integers.size(), 2U);
  as_integers[1] = -7;
  EXPECT_EQ(labels[1], -7);
}

template <typename Number>
std::string bytes_of_numbers(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

/// Converts all numbers, which must be possible.
template <typename Number>
std::vector<Number> converted(std::string_view stored, NumberType type, const Packing& packing) {
  std::vector<Number> result(stored.size() / bytes_of(type));
  const FieldType field = std::is_same_v<Number, float> ? FieldType::float32 : FieldType::int64;
  EXPECT_FALSE(convert(stored, type, packing, field, std::as_writable_bytes(std::span(result))));
  return result;
}

struct IntegerCase {
  NumberType type;
  std::string stored;  ///< In hexadecimal digits, little endian.
  std::vector<std::int64_t> numbers;
};
constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();

TEST(Integer, BecomesTheSameIntegerAndReal) {
  const IntegerCase cases[] = {
      {NumberType::int8, "00 7f 80", {0, 127, -128}},
      {NumberType::uint8, "00 7f 80", {0, 127, 128}},
      {NumberType::int16, "0201 ffff", {258, -1}},
      {NumberType::uint16, "0201 ffff", {258, 65535}},
      {NumberType::int32, "01000000 ffffffff", {1, -1}},
      {NumberType::uint32, "01000000 ffffffff", {1, 4294967295}},
      {NumberType::int64, "0100000000000000 ffffffffffffffff", {1, -1}},
      {NumberType::uint64, "0100000000000000 ffffffffffffff7f", {1, longest}}};
  for (const IntegerCase& c : cases) {
    SCOPED_TRACE(c.stored);
    const std::string stored = unhex(c.stored);
    EXPECT_EQ(converted<std::int64_t>(stored, c.type, {}), c.numbers);
    const std::vector<float> reals(c.numbers.begin(), c.numbers.end());
    EXPECT_EQ(converted<float>(stored, c.type, {}), reals);
    EXPECT_EQ(field_type(c.type), FieldType::int64);
  }
}

TEST(Convert, RoundsDoublePrecision) {
  EXPECT_EQ(converted<float>(bytes_of_numbers<double>({0.5, 0.1, -1e300 / 1e300}),
                             NumberType::float64, {}),
            (std::vector<float>{0.5F, 0.1F, -1.0F}));
}

TEST(Convert, KeepsInfinityAndNaN) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto numbers = converted<float>(
      bytes_of_numbers<double>({infinity, -infinity, std::nan("")}), NumberType::float64, {});
  EXPECT_EQ(numbers[0], std::numeric_limits<float>::infinity());
  EXPECT_EQ(numbers[1], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(numbers[2]));
}

TEST(Convert, NamesTheFirstNumberThatIsTooLarge) {
  std::vector<float> reals(3);
  const auto bad_real = convert(bytes_of_numbers<double>({1, 1e39, 1e40}), NumberType::float64, {},
                                FieldType::float32, std::as_writable_bytes(std::span(reals)));
  ASSERT_TRUE(bad_real);
  EXPECT_EQ(bad_real->index, 1U);
  EXPECT_FALSE(bad_real->missing);

  std::vector<std::int64_t> integers(2);
  const auto bad_integer =
      convert(bytes_of_numbers<std::uint64_t>({1, std::uint64_t{1} << 63}), NumberType::uint64, {},
              FieldType::int64, std::as_writable_bytes(std::span(integers)));
  ASSERT_TRUE(bad_integer);
  EXPECT_EQ(bad_integer->index, 1U);
}

TEST(Convert, AppliesScaleAndOffset) {
  const Packing packing{.scaled = true, .scale = 0.5, .offset = 200, .missing = {-32767}};
  EXPECT_EQ(
      converted<float>(bytes_of_numbers<std::int16_t>({0, 3, -400}), NumberType::int16, packing),
      (std::vector<float>{200, 201.5, 0}));
}

TEST(Convert, ComparesMissingValuesBeforeScaling) {
  Packing packing{.scaled = true, .scale = 2, .missing = {-1, 7}};
  const std::string stored = bytes_of_numbers<std::int16_t>({14, 7, -1});
  std::vector<float> memory(3);
  const auto bad = convert(stored, NumberType::int16, packing, FieldType::float32,
                           std::as_writable_bytes(std::span(memory)));
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->index, 1U);
  EXPECT_TRUE(bad->missing);

  packing.missing_as_nan = true;
  const auto numbers = converted<float>(stored, NumberType::int16, packing);
  EXPECT_EQ(numbers[0], 28);
  EXPECT_TRUE(std::isnan(numbers[1]));
  EXPECT_TRUE(std::isnan(numbers[2]));
}

TEST(Convert, ComparesMissingValuesInTheStoredType) {
  const Packing packing{.missing = {1e20, 1e300}, .missing_as_nan = true};
  const float infinity = std::numeric_limits<float>::infinity();
  const auto numbers = converted<float>(bytes_of_numbers<float>({1, 1e20F, 1e19F, infinity}),
                                        NumberType::float32, packing);
  EXPECT_EQ(numbers[0], 1);
  EXPECT_TRUE(std::isnan(numbers[1])) << "as a float it is not the double 1e20";
  EXPECT_EQ(numbers[2], 1e19F);
  EXPECT_EQ(numbers[3], infinity) << "1e300 is no float";
}

TEST(Convert, TakesNaNForMissingIfItIsTheMissingValue) {
  const Packing packing{.missing = {std::nan("")}};
  std::vector<float> memory(2);
  const auto bad = convert(bytes_of_numbers<float>({1, std::nanf("")}), NumberType::float32,
                           packing, FieldType::float32, std::as_writable_bytes(std::span(memory)));
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->index, 1U);
}

TEST(Convert, KnowsNoMissingIntegers) {
  const Packing packing{.missing = {9}, .missing_as_nan = true};
  std::vector<std::int64_t> memory(2);
  const auto bad = convert(bytes_of_numbers<std::int16_t>({1, 9}), NumberType::int16, packing,
                           FieldType::int64, std::as_writable_bytes(std::span(memory)));
  ASSERT_TRUE(bad);
  EXPECT_TRUE(bad->missing) << "an integer field has no NaN";
}

TEST(Convert, WorksInPlace) {
  std::vector<float> memory = {1, 2, 3};
  const std::string_view stored(reinterpret_cast<const char*>(memory.data()), 12);
  const Packing packing{.scaled = true, .scale = 10, .offset = 1};
  EXPECT_FALSE(convert(stored, NumberType::float32, packing, FieldType::float32,
                       std::as_writable_bytes(std::span(memory))));
  EXPECT_EQ(memory, (std::vector<float>{11, 21, 31}));
}

}  // namespace

}  // namespace bench::steps
