#include "data/field_transforms.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "steps_data/field_buffers.hpp"
#include "steps_data/numbered_source.hpp"

#include <memory>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

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

}  // namespace
}  // namespace bench::steps
