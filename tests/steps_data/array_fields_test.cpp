#include "data/array_fields.hpp"

#include "data/fields.hpp"
#include "data/files.hpp"
#include "harness/errors.hpp"
#include "support/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using support::message_of;
using testing::ElementsAre;

constexpr Axis sample = Axis::sample;
constexpr Axis rows = Axis::tile_rows;
constexpr Axis tile_column_axes = Axis::tile_columns;
constexpr Axis whole = Axis::whole;

ArrayVariable variable(std::vector<std::uint64_t> shape, std::vector<std::uint64_t> chunk = {}) {
  return {.shape = std::move(shape),
          .type = NumberType::float32,
          .packing = {},
          .chunk = std::move(chunk)};
}

VariableLayout variable_layout(std::vector<Axis> axes, const ArrayVariable& variable) {
  const ArrayLayout layout{.fields = {{.name = "f", .variable = "v", .axes = std::move(axes)}},
                           .tile_rows = 256,
                           .tile_columns = 128};
  return {layout, layout.fields[0], variable, "a.nc"};
}

TEST(VariableLayout, TakesOneIndexATileAndTheRest) {
  const auto layout =
      variable_layout({sample, rows, tile_column_axes}, variable({59, 2321, 1796, 8}));
  EXPECT_EQ(layout.field(), (Field{"f", FieldType::float32, {256, 128, 8}}));
  const Slab slab = layout.slab({.file = 3, .index = 5, .tile_row = 2, .tile_column = 7});
  EXPECT_THAT(slab.start, ElementsAre(5, 512, 896, 0));
  EXPECT_THAT(slab.count, ElementsAre(1, 256, 128, 8));
  EXPECT_EQ(layout.extent(rows), 2321U);
  EXPECT_EQ(layout.extent(sample), 59U);
}

TEST(VariableLayout, MayHaveItsAxesInAnyOrder) {
  const auto layout = variable_layout({tile_column_axes, whole, sample}, variable({200, 3, 10}));
  EXPECT_EQ(layout.field(), (Field{"f", FieldType::float32, {128, 3}}));
  const Slab slab = layout.slab({.file = 0, .index = 9, .tile_row = 4, .tile_column = 0});
  EXPECT_THAT(slab.start, ElementsAre(0, 0, 9));
  EXPECT_THAT(slab.count, ElementsAre(128, 3, 1));
}

TEST(VariableLayout, MayBeOneNumber) {
  EXPECT_EQ(variable_layout({}, variable({})).field(), (Field{"f", FieldType::float32, {}}));
  EXPECT_EQ(variable_layout({sample}, variable({7})).field(), (Field{"f", FieldType::float32, {}}));
}

struct LayoutMistake {
  std::string name;
  std::vector<Axis> axes;
  std::vector<std::uint64_t> shape;
  std::string message;
};
TEST(BadVariable, IsReportedWithItsShape) {
  const LayoutMistake cases[] = {{"TooFewDimensions",
                                  {sample, rows, tile_column_axes},
                                  {3, 4},
                                  "(3, 4) has fewer dimensions than field 'f' names, 3"},
                                 {"NotEvenATile",
                                  {rows, tile_column_axes},
                                  {256, 127},
                                  "(256, 127) is smaller than a tile of 256 x 128"},
                                 {"NoNumbers", {sample}, {3, 0}, "(3, 0) has no numbers"},
                                 {"TooManyNumbers",
                                  {sample},
                                  {3, std::uint64_t{1} << 40, std::uint64_t{1} << 40},
                                  "(3, 1099511627776, 1099511627776) has too many numbers"}};
  for (const LayoutMistake& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(message_of<DataError>([&] { variable_layout(c.axes, variable(c.shape)); }),
              "a.nc: variable 'v' of shape " + c.message);
  }
}

TEST(VariableLayout, RefusesAnAxisTwice) {
  EXPECT_EQ(message_of<UsageError>([] {
              variable_layout({sample, sample}, variable({3, 4}));
            }),
            "field 'f' has two dimensions for one axis");
}

TEST(VariableLayout, RefusesTilesWithoutASize) {
  const ArrayLayout layout{.fields = {{.name = "f", .variable = "v", .axes = {rows}}}};
  EXPECT_EQ(message_of<UsageError>(
                [&] { VariableLayout(layout, layout.fields[0], variable({3}), "a.nc"); }),
            "field 'f' is cut into tiles without a size");
}

struct FieldTypeCase {
  std::string name;
  NumberType stored;
  bool scaled;
  std::optional<FieldType> wanted;
  FieldType expected;
};
VariableLayout typed_layout(NumberType stored, bool scaled, std::optional<FieldType> wanted) {
  ArrayVariable v = variable({3});
  v.type = stored;
  v.packing.scaled = scaled;
  const ArrayLayout layout{.fields = {{.name = "f", .variable = "v", .axes = {}, .type = wanted}}};
  return {layout, layout.fields[0], v, "a.nc"};
}

TEST(FieldType, FollowsFromTheFileOrTheCaller) {
  const FieldTypeCase cases[] = {
      {"Real", NumberType::float64, false, std::nullopt, FieldType::float32},
      {"Integer", NumberType::uint8, false, std::nullopt, FieldType::int64},
      {"ScaledInteger", NumberType::int16, true, std::nullopt, FieldType::float32},
      {"IntegerAsReal", NumberType::int16, false, FieldType::float32, FieldType::float32},
      {"IntegerAsItIs", NumberType::int16, false, FieldType::int64, FieldType::int64}};
  for (const FieldTypeCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(typed_layout(c.stored, c.scaled, c.wanted).field().type, c.expected);
  }
}

TEST(VariableLayout, RefusesRealNumbersInAFieldOfIntegers) {
  EXPECT_EQ(
      message_of<UsageError>([] { typed_layout(NumberType::float64, false, FieldType::int64); }),
      "field 'f' has integers, variable 'v' has float64 numbers");
  EXPECT_EQ(message_of<UsageError>([] { typed_layout(NumberType::int16, true, FieldType::int64); }),
            "field 'f' has integers, variable 'v' has scaled int16 numbers");
}

struct ChunkCase {
  std::string name;
  std::vector<Axis> axes;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> chunk;
  std::size_t chunks;
};
TEST(SharedChunks, AreThoseOfOneSample) {
  const ChunkCase cases[] = {
      {"NotChunked", {sample}, {10, 4}, {}, 0},
      {"OnePerSample", {sample}, {10, 4}, {1, 4}, 0},
      {"SeveralPerSample", {sample}, {10, 4}, {1, 2}, 0},
      {"SamplesTogether", {sample}, {10, 4}, {5, 2}, 2},
      {"TilesTogether",
       {sample, rows, tile_column_axes},
       {9, 2321, 1796, 8},
       {1, 2321, 1796, 8},
       1},
      {"AlignedTiles", {rows, tile_column_axes}, {2321, 1796}, {256, 64}, 0},
      {"TilesAcrossChunks", {rows, tile_column_axes}, {2321, 1796}, {100, 128}, 4}};
  for (const ChunkCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(variable_layout(c.axes, variable(c.shape, c.chunk)).shared_chunks(), c.chunks);
  }
}

TEST(Slab, NamesTheIndicesOfAnElement) {
  const Slab slab{.start = {5, 256, 0}, .count = {1, 2, 3}};
  EXPECT_EQ(slab.elements(), 6U);
  EXPECT_EQ(slab.index_text(0), "(5, 256, 0)");
  EXPECT_EQ(slab.index_text(4), "(5, 257, 1)");
  EXPECT_EQ(Slab().index_text(0), "()");
}

const ArrayLayout two_fields{
    .fields = {{.name = "a", .variable = "va", .axes = {sample, rows, tile_column_axes}},
               {.name = "b", .variable = "vb", .axes = {rows, tile_column_axes}}},
    .tile_rows = 10,
    .tile_columns = 20};

TEST(FileLayout, CountsSamplesAndTiles) {
  const FileLayout file(two_fields, {variable({7, 35, 45}), variable({35, 45})}, "a.nc");
  EXPECT_EQ(file.indices, 7U);
  EXPECT_EQ(file.tiles_down, 3U);
  EXPECT_EQ(file.tiles_across, 2U);
}

TEST(FileLayout, IsOneSampleWithoutAnAxisOfSamples) {
  const ArrayLayout layout{.fields = {{.name = "a", .variable = "va", .axes = {}}}};
  EXPECT_FALSE(layout.has_sample_axis());
  EXPECT_TRUE(two_fields.has_sample_axis());
  const FileLayout file(layout, {variable({35, 45})}, "a.nc");
  EXPECT_EQ(file.indices * file.tiles_down * file.tiles_across, 1U);
}

TEST(FileLayout, NamesVariablesThatDisagree) {
  EXPECT_EQ(message_of<DataError>([] {
              FileLayout(two_fields, {variable({7, 35, 45}), variable({36, 45})}, "a.nc");
            }),
            "a.nc: variable 'vb' has 36 rows, variable 'va' 35");
  ArrayLayout layout = two_fields;
  layout.fields[1].axes = {sample};
  EXPECT_EQ(message_of<DataError>([&] {
              FileLayout(layout, {variable({7, 35, 45}), variable({6})}, "a.nc");
            }),
            "a.nc: variable 'vb' has 6 samples, variable 'va' 7");
}

TEST(FileLayout, MayHaveAnotherNumberOfSamplesThanAnother) {
  const FileLayout first(two_fields, {variable({7, 35, 45}), variable({35, 45})}, "a.nc");
  const FileLayout second(two_fields, {variable({8, 35, 45}), variable({35, 45})}, "b.nc");
  EXPECT_NO_THROW(second.check_same_samples(two_fields, first, "b.nc", "a.nc"));
}

TEST(FileLayout, NamesADifferenceToAnotherFile) {
  const ArrayLayout layout{.fields = {{.name = "a", .variable = "va", .axes = {sample, rows}}},
                           .tile_rows = 10};
  const FileLayout first(layout, {variable({7, 35, 4})}, "a.nc");
  const auto difference = [&](const ArrayVariable& other) {
    const FileLayout second(layout, {other}, "b.nc");
    return message_of<DataError>([&] { second.check_same_samples(layout, first, "b.nc", "a.nc"); });
  };
  EXPECT_EQ(difference(variable({7, 35, 5})),
            "b.nc: variable 'va' has samples of shape (10, 5), in a.nc (10, 4)");
  EXPECT_EQ(difference(variable({7, 45, 4})), "b.nc: variable 'va' has 45 rows, in a.nc 35");
  ArrayVariable other = variable({7, 35, 4});
  other.type = NumberType::float64;
  EXPECT_EQ(difference(other), "b.nc: variable 'va' has float64 numbers, in a.nc float32 numbers");
}

}  // namespace
}  // namespace bench::steps
