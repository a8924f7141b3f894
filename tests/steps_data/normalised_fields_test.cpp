#include "data/field_transforms.hpp"
#include "steps_data/field_buffers.hpp"
#include "steps_data/numbered_source.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
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

}  // namespace
}  // namespace bench::steps
