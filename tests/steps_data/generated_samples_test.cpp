#include "data/generated_samples.hpp"

#include "data/sample_loader.hpp"
#include "steps_data/field_buffers.hpp"
#include "support/message_of.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using support::message_of;

std::vector<SyntheticField> some_fields() {
  return {{.field = {"image", FieldType::float32, {5, 7}}},
          {.field = {"noise", FieldType::float32, {13}}, .distribution = Distribution::normal},
          {.field = {"mask", FieldType::int64, {5, 7}}, .bound = 3}};
}

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments moments_of(const std::vector<float>& numbers) {
  const auto count = static_cast<double>(numbers.size());
  Moments moments;
  for (const float number : numbers)
    moments.mean += number / count;
  for (const float number : numbers)
    moments.deviation += std::pow(number - moments.mean, 2) / count;
  moments.deviation = std::sqrt(moments.deviation);
  return moments;
}

/// Of one sample of a field of 100,000 numbers.
std::vector<float> drawn(Distribution distribution) {
  const SampleMakers makers = synthetic_field_makers(
      {{.field = {"x", FieldType::float32, {100, 1000}}, .distribution = distribution}}, 1, 1);
  return made(*makers[0], 5).floats_of(0);
}

TEST(SyntheticFields, HaveTheFieldsThatWereAskedForWithoutEnd) {
  const SampleMakers makers = synthetic_field_makers(some_fields(), 1, 2);
  ASSERT_EQ(makers.size(), 2U);
  const std::vector<Field> expected = {{"image", FieldType::float32, {5, 7}},
                                       {"noise", FieldType::float32, {13}},
                                       {"mask", FieldType::int64, {5, 7}}};
  EXPECT_EQ(makers[1]->fields(), expected);
  EXPECT_FALSE(makers[1]->samples_per_epoch());
}

TEST(SyntheticFields, FollowSeedAndNumberAlone) {
  const SampleMakers two = synthetic_field_makers(some_fields(), 1, 2);
  const SampleMakers other = synthetic_field_makers(some_fields(), 2, 1);
  const FieldBuffers expected = made(*two[0], 9);
  made(*two[1], 3);
  EXPECT_EQ(made(*two[1], 9), expected);
  EXPECT_NE(made(*two[0], 10), expected);
  EXPECT_NE(made(*other[0], 9), expected);
}

TEST(SyntheticFields, AreUniformBelowOne) {
  const std::vector<float> numbers = drawn(Distribution::uniform);
  const auto [least, most] = std::ranges::minmax(numbers);
  EXPECT_GE(least, 0);
  EXPECT_LT(most, 1);
  const Moments moments = moments_of(numbers);
  EXPECT_NEAR(moments.mean, 0.5, 0.005);
  EXPECT_NEAR(moments.deviation, std::sqrt(1.0 / 12), 0.005);
}

TEST(SyntheticFields, AreNormal) {
  const std::vector<float> numbers = drawn(Distribution::normal);
  const Moments moments = moments_of(numbers);
  EXPECT_NEAR(moments.mean, 0, 0.02);
  EXPECT_NEAR(moments.deviation, 1, 0.02);
  const auto beyond_two =
      std::ranges::count_if(numbers, [](float number) { return std::abs(number) > 2; });
  EXPECT_NEAR(static_cast<double>(beyond_two) / 1e5, 0.0455, 0.005);
}

TEST(SyntheticFields, HaveEachIntegerBelowTheBound) {
  const SampleMakers makers = synthetic_field_makers(some_fields(), 1, 1);
  std::set<std::int64_t> seen;
  for (std::uint64_t sample = 0; sample < 20; ++sample)
    for (const std::int64_t number : made(*makers[0], sample).integers_of(2))
      seen.insert(number);
  EXPECT_THAT(seen, testing::ElementsAre(0, 1, 2));
}

// Written down so that a change of the generator is noticed: losses would no longer compare.
TEST(SyntheticFields, AreTheSameOnEveryMachine) {
  const SampleMakers makers = synthetic_field_makers(some_fields(), 7, 1);
  FieldBuffers sample = made(*makers[0], 2);
  EXPECT_EQ(sample.floats_of(0)[34], 16'348'808 * 0x1p-24F);
  EXPECT_NEAR(sample.floats_of(1)[12], 0.0996095687F, 1e-7F);  // the quantile of 2210.5 / 4096
  EXPECT_EQ(sample.integers_of(2)[34], 2);
}

TEST(SyntheticFields, NeedABoundForIntegers) {
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              synthetic_field_makers({{.field = {"mask", FieldType::int64, {}}, .bound = 0}}, 1, 1);
            }),
            "the bound of field 'mask' is 0");
}

}  // namespace
}  // namespace bench::steps
