#include "data/field_transforms.hpp"

#include "data/fields.hpp"
#include "data/files.hpp"
#include "steps_data/numbered_source.hpp"
#include "steps_data/sample_numbers.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::ElementsAre;
using testing::FloatNear;

FieldBuffers normalised_sample(std::uint64_t samples, std::uint64_t used, std::uint64_t sample) {
  FieldMoments moments;
  const auto source = normalised_fields(std::make_shared<NumberedSource>(samples), used, moments);
  FieldBuffers buffers(source->fields());
  source->reader()->read(sample, buffers.memory());
  return buffers;
}

// Sample n has n and n / 2: of the samples 0 and 2 of four, 0, 0, 2 and 1.
TEST(NormalisedFields, HaveMeanAndDeviationOfSpreadSamples) {
  const float deviation = std::sqrt(0.6875F);
  EXPECT_THAT(normalised_sample(4, 2, 3).floats_of(0),
              ElementsAre(FloatNear((3 - 0.75F) / deviation, 1e-6F),
                          FloatNear((1.5F - 0.75F) / deviation, 1e-6F)));
}

TEST(NormalisedFields, KeepIntegers) {
  EXPECT_THAT(normalised_sample(4, 2, 3).integers_of(1), ElementsAre(-3));
}

// 0, 0, 1 and 1/2.
TEST(NormalisedFields, UseAllSamplesIfThereAreFew) {
  EXPECT_THAT(normalised_sample(2, 64, 0).floats_of(0),
              testing::Each(FloatNear(-0.375F / std::sqrt(0.171875F), 1e-6F)));
}

TEST(NormalisedFields, HaveTheScaleOfAnotherDataSet) {
  FieldMoments moments;
  normalised_fields(std::make_shared<NumberedSource>(4), 2, moments);
  const auto source = normalised_fields(std::make_shared<NumberedSource>(1), 1, moments);
  FieldBuffers buffers(source->fields());
  source->reader()->read(0, buffers.memory());
  EXPECT_THAT(buffers.floats_of(0), testing::Each(FloatNear(-0.75F / std::sqrt(0.6875F), 1e-6F)));
}

TEST(NormalisedFields, AreZeroIfConstant) {
  EXPECT_THAT(normalised_sample(1, 1, 0).floats_of(0), ElementsAre(0, 0));
}

/// One field with the sum of a sample's values.
std::unique_ptr<FieldSource> sums_of(std::uint64_t samples) {
  return transformed_fields(std::make_shared<NumberedSource>(samples), {{.name = "sum"}},
                            [](const FieldMemory& stored, const FieldMemory& sample) {
                              const auto values = floats(stored[0]);
                              floats(sample[0])[0] = values[0] + values[1];
                            });
}

TEST(TransformedFields, AreComputedFromThoseThatAreStored) {
  const auto source = sums_of(5);
  EXPECT_EQ(source->samples(), 5U);
  EXPECT_EQ(source->fields(), (std::vector<Field>{{.name = "sum"}}));
  EXPECT_EQ(source->bytes(), 5U * 16);  // as stored
  FieldBuffers sample(source->fields());
  source->reader()->read(3, sample.memory());
  EXPECT_THAT(sample.floats_of(0), testing::ElementsAre(4.5F));
}

TEST(TransformedFields, PassErrorsOn) {
  const auto source = sums_of(5);
  FieldBuffers sample(source->fields());
  EXPECT_THROW(source->reader()->read(5, sample.memory()), DataError);
}

using Sources = std::vector<std::shared_ptr<const FieldSource>>;

/// Two sources of `values` (2) and `label`.
Sources two_sources() {
  return {std::make_shared<NumberedSource>(5), std::make_shared<NumberedSource>(5)};
}

JoinedField values(std::vector<std::int64_t> shape) {
  return {.field = {"x", FieldType::float32, std::move(shape)}};
}
JoinedField one_label() {
  return {.field = {"y", FieldType::int64, {}}};
}

TEST(JoinedFields, AreThoseOfAllSources) {
  const auto joined =
      join_fields(two_sources(), {values({2}), one_label(), values({2}), one_label()});
  EXPECT_EQ(joined->samples(), 5U);
  EXPECT_EQ(joined->bytes(), 5U * 2 * (2 * 4 + 8));
  FieldBuffers sample(joined->fields());
  joined->reader()->read(3, sample.memory());
  EXPECT_THAT(sample.floats_of(0), ElementsAre(3, 1.5F));
  EXPECT_THAT(sample.integers_of(1), ElementsAre(-3));
  EXPECT_THAT(sample.floats_of(2), ElementsAre(3, 1.5F));
  EXPECT_THAT(sample.integers_of(3), ElementsAre(-3));
}

/// One label, ten times the number of the sample.
std::shared_ptr<const FieldSource> labels() {
  const auto fill = [](std::uint64_t sample, const FieldMemory& memory) {
    integers(memory.at(0))[0] = static_cast<std::int64_t>(10 * sample);
  };
  return made_fields({{"label", FieldType::int64, {}}}, 5, std::nullopt, [=] { return fill; });
}

TEST(JoinedFields, MayLieBehindEachOtherInOneField) {
  const auto joined =
      join_fields({std::make_shared<NumberedSource>(5), labels(), labels()},
                  {values({1, 2}), {.field = {"labels", FieldType::int64, {3}}, .parts = 3}});
  EXPECT_EQ(joined->bytes(), std::nullopt);
  FieldBuffers sample(joined->fields());
  joined->reader()->read(2, sample.memory());
  EXPECT_THAT(sample.floats_of(0), ElementsAre(2, 1));
  EXPECT_THAT(sample.integers_of(1), ElementsAre(-2, 20, 20));
}

TEST(JoinedFields, NeedAsManySamplesEverywhere) {
  EXPECT_THROW(
      join_fields({std::make_shared<NumberedSource>(5), std::make_shared<NumberedSource>(6)},
                  {values({2}), one_label(), values({2}), one_label()}),
      std::invalid_argument);
  EXPECT_THROW(join_fields({}, {}), std::invalid_argument);
}

struct WrongFields {
  std::string name;
  std::vector<JoinedField> fields;
};
TEST(WrongJoinedFields, AreRefused) {
  const WrongFields cases[] = {{"TooFew", {values({2})}},
                               {"TooMany", {values({2}), one_label(), one_label()}},
                               {"OfAnotherSize", {values({3}), one_label()}},
                               {"OfAnotherType", {one_label(), one_label()}}};
  for (const WrongFields& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THROW(join_fields({std::make_shared<NumberedSource>(5)}, c.fields),
                 std::invalid_argument);
  }
}

}  // namespace
}  // namespace bench::steps
