#include "data/fields.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace bench::steps
