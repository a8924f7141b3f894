#include "data/array_fields.hpp"
#include "data/field_writer.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/field_buffers.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using support::message_of;
using testing::ElementsAre;

/// Formats that this build has, by the endings of their files.
std::vector<std::string> built_endings() {
  std::vector<std::string> endings;
#ifdef BENCH_STEPS_HDF5
  endings.emplace_back(".h5");
#endif
#ifdef BENCH_STEPS_NETCDF
  endings.emplace_back(".nc");
#endif
  return endings;
}

/// A file with `x` (3, 4, 6) and once `terrain` (4, 6), whose tiles are 2 x 3.
class ArrayFilesTest : public testing::TestWithParam<std::string> {
 protected:
  ArrayFilesTest() {
    const std::vector<Field> fields = {{.name = "x", .shape = {4, 6}},
                                       {.name = "terrain", .shape = {4, 6}}};
    const auto writer =
        make_field_writer(GetParam() == ".h5" ? FieldFormat::hdf5 : FieldFormat::netcdf, path(),
                          fields, {.samples = 3, .once = {"terrain"}});
    for (std::size_t sample = 0; sample < 3; ++sample) {
      FieldBuffers buffers(fields);
      for (std::size_t field = 0; field < 2; ++field)
        for (float number = static_cast<float>(100 * sample + 1000 * field);
             float& value : floats(buffers.memory()[field]))
          value = number++;
      writer->add(buffers.memory());
    }
    writer->finish();
  }

  std::string path() const { return folder_.file("a" + GetParam()); }

  static ArrayLayout layout() {
    using enum Axis;
    return {
        .fields = {{.name = "x", .variable = "x", .axes = {sample, tile_rows, tile_columns}},
                   {.name = "terrain", .variable = "terrain", .axes = {tile_rows, tile_columns}}},
        .indices = {{.name = "time", .axis = sample},
                    {.name = "row", .axis = tile_rows},
                    {.name = "column", .axis = tile_columns}},
        .tile_rows = 2,
        .tile_columns = 3};
  }

  Folder folder_;
};

TEST_P(ArrayFilesTest, HaveTilesAndTheirPlaceInTheGrid) {
  const std::vector<Field> tiles = {{.name = "x", .shape = {2, 3}},
                                    {.name = "terrain", .shape = {2, 3}}};
  const auto source = open_array_files({path()}, layout(), tiles);
  EXPECT_EQ(source->samples(), 3U * 4);
  auto sample = read_sample(*source, 2 * 4 + 3);  // the last tile of the last time
  EXPECT_THAT(sample["x"], ElementsAre(215, 216, 217, 221, 222, 223));
  EXPECT_THAT(sample["terrain"], ElementsAre(1015, 1016, 1017, 1021, 1022, 1023));
  EXPECT_THAT(sample["time"], ElementsAre(2));
  EXPECT_THAT(sample["row"], ElementsAre(2, 3));
  EXPECT_THAT(sample["column"], ElementsAre(3, 4, 5));
}

TEST_P(ArrayFilesTest, MustHaveTheExpectedFields) {
  const std::vector<Field> others = {{.name = "x", .shape = {2, 3}},
                                     {.name = "terrain", .shape = {2, 3, 6}}};
  EXPECT_EQ(
      message_of<DataError>([&] { open_array_files({path()}, layout(), others); }),
      path() + ": a sample of variable 'terrain' is float32 (2, 3), expected float32 (2, 3, 6)");
}

INSTANTIATE_TEST_SUITE_P(Endings, ArrayFilesTest, testing::ValuesIn(built_endings()),
                         [](const auto& test) { return test.param.substr(1); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ArrayFilesTest);

}  // namespace
}  // namespace bench::steps
