#include "data/field_transforms.hpp"
#include "steps_data/field_buffers.hpp"
#include "steps_data/numbered_source.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::ElementsAre;
using Sources = std::vector<std::shared_ptr<const FieldSource>>;

/// Two sources of `values` (2) and `label`.
Sources two_sources() {
  return {std::make_shared<NumberedSource>(5), std::make_shared<NumberedSource>(5)};
}

JoinedField values(std::vector<std::int64_t> shape) {
  return {.field = {"x", FieldType::float32, std::move(shape)}};
}
JoinedField label() {
  return {.field = {"y", FieldType::int64, {}}};
}

TEST(JoinedFields, AreThoseOfAllSources) {
  const auto joined = join_fields(two_sources(), {values({2}), label(), values({2}), label()});
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
class Labels : public FieldSource {
 public:
  const std::vector<Field>& fields() const override { return fields_; }
  std::uint64_t samples() const override { return 5; }
  std::optional<std::uint64_t> bytes() const override { return std::nullopt; }
  std::unique_ptr<Reader> reader() const override { return std::make_unique<LabelReader>(); }

 private:
  class LabelReader : public Reader {
   public:
    void read(std::uint64_t sample, const FieldMemory& memory) override {
      integers(memory.at(0))[0] = static_cast<std::int64_t>(10 * sample);
    }
  };
  std::vector<Field> fields_ = {{"label", FieldType::int64, {}}};
};

TEST(JoinedFields, MayLieBehindEachOtherInOneField) {
  const auto joined = join_fields(
      {std::make_shared<NumberedSource>(5), std::make_shared<Labels>(), std::make_shared<Labels>()},
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
                  {values({2}), label(), values({2}), label()}),
      std::invalid_argument);
  EXPECT_THROW(join_fields({}, {}), std::invalid_argument);
}

struct WrongFields {
  std::string name;
  std::vector<JoinedField> fields;
};
void PrintTo(const WrongFields& wrong, std::ostream* out) {
  *out << wrong.name;
}
class WrongJoinedFieldsTest : public testing::TestWithParam<WrongFields> {};

TEST_P(WrongJoinedFieldsTest, AreRefused) {
  EXPECT_THROW(join_fields({std::make_shared<NumberedSource>(5)}, GetParam().fields),
               std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Fields, WrongJoinedFieldsTest,
                         testing::Values(WrongFields{"TooFew", {values({2})}},
                                         WrongFields{"TooMany", {values({2}), label(), label()}},
                                         WrongFields{"OfAnotherSize", {values({3}), label()}},
                                         WrongFields{"OfAnotherType", {label(), label()}}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bench::steps
