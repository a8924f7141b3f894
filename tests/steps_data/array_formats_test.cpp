// What holds for arrays in files of every format, written with the formats' own libraries.

#include "data/array_fields.hpp"
#include "data/field_files.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/case_name.hpp"
#include "support/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_HDF5
#include "steps_data/hdf5_test_file.hpp"
#endif

#ifdef BENCH_STEPS_NETCDF
#include "steps_data/netcdf_test_file.hpp"
#endif

namespace bench::steps {
namespace {

using support::message_of;
using testing::ElementsAre;
using testing::StartsWith;

/// A variable of the numbers first, first + 1, ...
struct TestVariable {
  std::string name;
  std::vector<std::size_t> shape;
  std::uint64_t first = 0;
  bool is_double = false;
  bool is_compressed = false;  ///< HDF5 only.
};

struct ArrayFormat {
  std::string name;
  std::function<void(const std::string& path, const std::vector<TestVariable>& variables)> write;
  std::function<std::unique_ptr<FieldSource>(const std::vector<std::string>& paths,
                                             const ArrayLayout& layout)>
      open;
};

std::vector<ArrayFormat> built_array_formats() {
  std::vector<ArrayFormat> formats;
#ifdef BENCH_STEPS_HDF5
  formats.push_back({"Hdf5",
                     [](const std::string& path, const std::vector<TestVariable>& variables) {
                       const Hdf5TestFile file(path);
                       for (const TestVariable& variable : variables) {
                         const std::vector<hsize_t> shape(variable.shape.begin(),
                                                          variable.shape.end());
                         file.add(variable.name, shape, static_cast<double>(variable.first),
                                  variable.is_double ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT,
                                  variable.is_compressed ? shape : std::vector<hsize_t>());
                       }
                     },
                     open_hdf5_fields});
#endif
#ifdef BENCH_STEPS_NETCDF
  for (const auto& [name, mode] :
       {std::pair("Classic", 0), std::pair("Offsets64", NC_64BIT_OFFSET),
        std::pair("Data64", NC_64BIT_DATA), std::pair("Netcdf4", NC_NETCDF4)})
    formats.push_back(
        {name,
         [mode = mode](const std::string& path, const std::vector<TestVariable>& variables) {
           NetcdfTestFile file(path, mode);
           for (const TestVariable& variable : variables)
             file.add(variable.name, variable.shape, variable.first,
                      variable.is_double ? NC_DOUBLE : NC_FLOAT);
         },
         open_netcdf_fields});
#endif
  return formats;
}

class ArrayFormatTest : public testing::TestWithParam<ArrayFormat> {
 protected:
  std::string path(const std::string& name = "a") const { return folder_.file(name); }
  void write(const std::string& name, const std::vector<TestVariable>& variables) const {
    GetParam().write(path(name), variables);
  }
  /// The error for files that must have samples of `x`.
  std::string error_of(const std::vector<std::string>& names) const {
    std::vector<std::string> paths;
    for (const std::string& name : names)
      paths.push_back(path(name));
    return message_of<HintedError>([&] { GetParam().open(paths, samples_of({"x"})); });
  }

 private:
  Folder folder_;
};

INSTANTIATE_TEST_SUITE_P(Formats, ArrayFormatTest, testing::ValuesIn(built_array_formats()),
                         support::case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ArrayFormatTest);

TEST_P(ArrayFormatTest, IsConcatenatedAlongTheFirstDimension) {
  write("a", {{"x", {3, 2}}});
  write("b", {{"x", {0, 2}}});
  write("c", {{"x", {2, 2}, 100}});
  const auto source = GetParam().open({path("a"), path("b"), path("c")}, samples_of({"x"}));
  EXPECT_EQ(source->samples(), 5U);
  EXPECT_EQ(source->fields(), (std::vector<Field>{{"x", FieldType::float32, {2}}}));
  EXPECT_EQ(source->bytes(), 5U * 2 * 4);
  const auto reader = source->reader();
  EXPECT_THAT(read_sample(*reader, *source, 4)["x"], ElementsAre(102, 103));
  EXPECT_THAT(read_sample(*reader, *source, 0)["x"], ElementsAre(0, 1));
  EXPECT_THAT(read_sample(*reader, *source, 3)["x"], ElementsAre(100, 101));
  EXPECT_THAT(read_sample(*reader, *source, 2)["x"], ElementsAre(4, 5));
}

TEST_P(ArrayFormatTest, MayBeTilesOfAGrid) {
  write("a", {{"fields", {2, 5, 7, 2}}, {"terrain", {5, 7}, 1000}, {"time", {2}, 48}});
  const ArrayLayout layout{
      .fields = {{.name = "fields", .axes = {Axis::sample, Axis::tile_rows, Axis::tile_columns}},
                 {.name = "terrain", .axes = {Axis::tile_rows, Axis::tile_columns}},
                 {.name = "time", .axes = {Axis::sample}}},
      .indices = {{.name = "index", .axis = Axis::sample},
                  {.name = "row", .axis = Axis::tile_rows},
                  {.name = "column", .axis = Axis::tile_columns}},
      .tile_rows = 2,
      .tile_columns = 3};
  const auto source = GetParam().open({path()}, layout);
  ASSERT_EQ(source->samples(), 2U * 2 * 2);
  EXPECT_THAT(read_sample(*source, 6)["terrain"],  // second row, first column of tiles
              ElementsAre(1014, 1015, 1016, 1021, 1022, 1023));
  // Index 1, second row of tiles, second column of tiles: rows 2 and 3, columns 3 to 5.
  auto sample = read_sample(*source, 7);
  EXPECT_THAT(sample["time"], ElementsAre(49));
  EXPECT_THAT(sample["terrain"], ElementsAre(1017, 1018, 1019, 1024, 1025, 1026));
  EXPECT_THAT(sample["fields"], ElementsAre(104, 105, 106, 107, 108, 109,  //
                                            118, 119, 120, 121, 122, 123));
  EXPECT_THAT(sample["index"], ElementsAre(1));
  EXPECT_THAT(sample["row"], ElementsAre(2, 3));
  EXPECT_THAT(sample["column"], ElementsAre(3, 4, 5));
}

TEST_P(ArrayFormatTest, IsReadByManyThreadsFromManyFiles) {
  constexpr std::uint64_t files = 40;  // more than a reader keeps open
  std::vector<std::string> paths;
  for (std::uint64_t i = 0; i < files; ++i) {
    write(std::to_string(100 + i), {{.name = "direct", .shape = {3, 4}, .first = 12 * i},
                                    {.name = "packed",
                                     .shape = {3, 4},
                                     .first = 12 * i,
                                     .is_double = true,
                                     .is_compressed = true}});
    paths.push_back(path(std::to_string(100 + i)));
  }
  const auto source = GetParam().open(paths, samples_of({"direct", "packed"}));
  ASSERT_EQ(source->samples(), 3 * files);
  std::vector<int> wrong(8, 0);
  for_each_index(8, 8, [&](std::size_t thread) {
    const auto reader = source->reader();
    for (std::uint64_t i = 0; i < 3 * files; ++i) {
      const std::uint64_t number = (7 * i + 5 * thread) % (3 * files);
      const auto expected = numbers_from(4 * number, 4);
      auto sample = read_sample(*reader, *source, number);
      wrong[thread] += sample["direct"] != expected || sample["packed"] != expected;
    }
  });
  EXPECT_THAT(wrong, testing::Each(0));
}

TEST_P(ArrayFormatTest, MustHaveSamplesOfOneKind) {
  write("a", {{"x", {3, 2}}});
  write("other", {{"y", {3, 2}}});
  EXPECT_THAT(error_of({"a", "other"}), StartsWith(path("other") + ": no variable 'x': "));
  EXPECT_THAT(message_of<DataError>([&] { GetParam().open({path()}, samples_of({"group/x"})); }),
              StartsWith(path() + ": no variable 'group/x': "));
  write("wide", {{"x", {3, 5}}});
  EXPECT_EQ(error_of({"a", "wide"}),
            path("wide") + ": variable 'x' has samples of shape (5), in " + path() + " (2)");
  write("double", {{.name = "x", .shape = {3, 2}, .is_double = true}});
  EXPECT_EQ(error_of({"a", "double"}), path("double") + ": variable 'x' has float64 numbers, in " +
                                           path() + " float32 numbers");
  write("empty", {{"x", {0, 2}}});
  EXPECT_EQ(error_of({"empty", "empty"}),
            path("empty") + ": no samples, in this file and all others");
}

TEST_P(ArrayFormatTest, HasNoSampleBehindItsLast) {
  write("a", {{"x", {3, 2}}});
  const auto source = GetParam().open({path()}, samples_of({"x"}));
  EXPECT_EQ(message_of<DataError>([&] { read_sample(*source, 3); }),
            path() + ": sample 3 does not exist: there are 3 up to this file");
}

TEST_P(ArrayFormatTest, IsComparedWhenReadIfAFileIsASample) {
  write("a", {{"x", {2, 3}}});
  write("b", {{"x", {2, 4}}});
  const ArrayLayout layout{.fields = {{.name = "x", .axes = {}}}};
  const auto source = GetParam().open({path("a"), path("b")}, layout);
  EXPECT_EQ(source->samples(), 2U);
  EXPECT_EQ(message_of<DataError>([&] { read_sample(*source, 1); }),
            path("b") + ": variable 'x' has samples of shape (2, 4), in " + path("a") + " (2, 3)");
}

TEST_P(ArrayFormatTest, SaysThatAFileIsMissing) {
  EXPECT_EQ(message_of<UsageError>([] { GetParam().open({"/nowhere/a"}, samples_of({"x"})); }),
            "cannot read /nowhere/a: No such file or directory");
}

}  // namespace
}  // namespace bench::steps
