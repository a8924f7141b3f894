// Files written with HDF5 itself.

#include "data/hdf5_fields.hpp"

#include "data/array_layout.hpp"
#include "data/data_error.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/parallel.hpp"
#include "harness/program.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_HDF5
#include <hdf5.h>

namespace bench::steps {
namespace {

using support::message_of;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::StartsWith;

/// A file of HDF5 that a test writes.
class TestFile {
 public:
  explicit TestFile(const std::string& path)
      : id_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {
    EXPECT_GE(id_, 0) << path;
  }
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;
  ~TestFile() { H5Fclose(id_); }

  hid_t id() const { return id_; }

  /// A data set of the numbers first, first + 1, ...
  /// @param stored the type in the file
  /// @param chunk with which it is compressed; without, it is stored in one piece
  void add(const std::string& name, const std::vector<hsize_t>& shape, double first = 0,
           hid_t stored = H5T_NATIVE_FLOAT, const std::vector<hsize_t>& chunk = {}) const {
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (!chunk.empty()) {
      H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
      H5Pset_deflate(creation, 6);
    }
    write(name, shape, first, stored, creation);
    H5Pclose(creation);
  }

  void write(const std::string& name, const std::vector<hsize_t>& shape, double first, hid_t stored,
             hid_t creation) const {
    hsize_t count = 1;
    for (const hsize_t extent : shape)
      count *= extent;
    std::vector<double> numbers;
    for (hsize_t i = 0; i < count; ++i)
      numbers.push_back(first + static_cast<double>(i));
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t set = H5Dcreate2(id_, name.c_str(), stored, space, links, creation, H5P_DEFAULT);
    EXPECT_GE(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()), 0);
    H5Dclose(set);
    H5Pclose(links);
    H5Sclose(space);
  }

 private:
  hid_t id_;
};

ArrayLayout samples_of(std::vector<std::pair<std::string, std::string>> fields) {
  ArrayLayout layout;
  for (auto& [name, variable] : fields)
    layout.fields.push_back({.name = name, .variable = variable, .axes = {Axis::sample}});
  return layout;
}

class Hdf5Fields : public testing::Test {
 protected:
  std::string path(const std::string& name = "a.h5") const { return folder_.file(name); }

  Folder folder_;
};

TEST_F(Hdf5Fields, AreConcatenatedAlongTheFirstDimension) {
  TestFile(path("a.h5")).add("x", {3, 2});
  TestFile(path("b.h5")).add("x", {0, 2});
  TestFile(path("c.h5")).add("x", {2, 2}, 100);
  const auto source =
      open_hdf5_fields({path("a.h5"), path("b.h5"), path("c.h5")}, samples_of({{"field", "x"}}));
  EXPECT_EQ(source->samples(), 5U);
  EXPECT_EQ(source->fields(), (std::vector<Field>{{"field", FieldType::float32, {2}}}));
  EXPECT_EQ(source->bytes(), 5U * 2 * 4);
  const auto reader = source->reader();
  EXPECT_THAT(read_sample(*reader, *source, 4)["field"], ElementsAre(102, 103));
  EXPECT_THAT(read_sample(*reader, *source, 0)["field"], ElementsAre(0, 1));
  EXPECT_THAT(read_sample(*reader, *source, 3)["field"], ElementsAre(100, 101));
  EXPECT_THAT(read_sample(*reader, *source, 2)["field"], ElementsAre(4, 5));
}

TEST_F(Hdf5Fields, MayBeAFilePerSampleWithGroups) {
  for (const int i : {0, 1, 2}) {
    const TestFile file(path(std::to_string(i)));
    file.add("climate/data", {2, 3, 4}, 100 * i);
    file.add("climate/labels_0", {2, 3}, i, H5T_NATIVE_INT32);
  }
  const ArrayLayout layout{
      .fields = {{.name = "image", .variable = "climate/data", .axes = {}},
                 {.name = "mask", .variable = "climate/labels_0", .axes = {}}}};
  const auto source = open_hdf5_fields({path("0"), path("1"), path("2")}, layout);
  EXPECT_EQ(source->samples(), 3U);
  EXPECT_EQ(source->fields(), (std::vector<Field>{{"image", FieldType::float32, {2, 3, 4}},
                                                  {"mask", FieldType::int64, {2, 3}}}));
  EXPECT_EQ(source->bytes(), 3U * (24 * 4 + 6 * 4));
  auto sample = read_sample(*source, 1);
  EXPECT_THAT(sample["image"], ElementsAreArray(numbers_from(100, 24)));
  EXPECT_THAT(sample["mask"], ElementsAreArray(numbers_from(1, 6)));
}

TEST_F(Hdf5Fields, MayBeTilesOfAGrid) {
  {
    const TestFile file(path());
    file.add("fields", {2, 5, 7, 2});
    file.add("terrain", {5, 7}, 1000);
  }
  const ArrayLayout layout{.fields = {{.name = "fields",
                                       .variable = "fields",
                                       .axes = {Axis::sample, Axis::tile_rows, Axis::tile_columns}},
                                      {.name = "terrain",
                                       .variable = "terrain",
                                       .axes = {Axis::tile_rows, Axis::tile_columns}}},
                           .tile_rows = 2,
                           .tile_columns = 3};
  const auto source = open_hdf5_fields({path()}, layout);
  ASSERT_EQ(source->samples(), 2U * 2 * 2);
  // Index 1, second row of tiles, second column of tiles: rows 2 and 3, columns 3 to 5.
  auto sample = read_sample(*source, 7);
  EXPECT_THAT(sample["terrain"], ElementsAre(1017, 1018, 1019, 1024, 1025, 1026));
  EXPECT_THAT(sample["fields"], ElementsAre(104, 105, 106, 107, 108, 109,  //
                                            118, 119, 120, 121, 122, 123));
}

struct StoredCase {
  std::string name;
  hid_t stored;
  FieldType type;
  std::size_t bytes;
};
void PrintTo(const StoredCase& c, std::ostream* out) {
  *out << c.name;
}
class StoredTypeTest : public testing::TestWithParam<StoredCase> {};

TEST_P(StoredTypeTest, IsConverted) {
  const Folder folder;
  TestFile(folder.file("a")).add("x", {3, 2}, 1, GetParam().stored);
  const auto source = open_hdf5_fields({folder.file("a")}, samples_of({{"x", "x"}}));
  EXPECT_EQ(source->fields().front().type, GetParam().type);
  EXPECT_EQ(source->bytes(), 6 * GetParam().bytes);
  EXPECT_THAT(read_sample(*source, 2)["x"], ElementsAre(5, 6));
}

INSTANTIATE_TEST_SUITE_P(
    Types, StoredTypeTest,
    testing::Values(StoredCase{"Float32", H5T_IEEE_F32LE, FieldType::float32, 4},
                    StoredCase{"Float32BigEndian", H5T_IEEE_F32BE, FieldType::float32, 4},
                    StoredCase{"Float64", H5T_IEEE_F64LE, FieldType::float32, 8},
                    StoredCase{"Float64BigEndian", H5T_IEEE_F64BE, FieldType::float32, 8},
                    StoredCase{"Int8", H5T_STD_I8LE, FieldType::int64, 1},
                    StoredCase{"UInt8", H5T_STD_U8LE, FieldType::int64, 1},
                    StoredCase{"Int16BigEndian", H5T_STD_I16BE, FieldType::int64, 2},
                    StoredCase{"UInt16", H5T_STD_U16LE, FieldType::int64, 2},
                    StoredCase{"Int32", H5T_STD_I32LE, FieldType::int64, 4},
                    StoredCase{"UInt32", H5T_STD_U32LE, FieldType::int64, 4},
                    StoredCase{"Int64", H5T_STD_I64LE, FieldType::int64, 8},
                    StoredCase{"Int64BigEndian", H5T_STD_I64BE, FieldType::int64, 8},
                    StoredCase{"UInt64", H5T_STD_U64LE, FieldType::int64, 8}),
    [](const auto& instance) { return instance.param.name; });

TEST_F(Hdf5Fields, MayTakeIntegersAsRealNumbers) {
  TestFile(path()).add("x", {2, 3}, 0, H5T_STD_I16LE);
  ArrayLayout layout = samples_of({{"x", "x"}});
  layout.fields[0].type = FieldType::float32;
  const auto source = open_hdf5_fields({path()}, layout);
  EXPECT_EQ(source->fields().front().type, FieldType::float32);
  EXPECT_THAT(read_sample(*source, 1)["x"], ElementsAre(3, 4, 5));
}

TEST_F(Hdf5Fields, MayBeTruthValuesAsPythonWritesThem) {
  {
    const TestFile file(path());
    const hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    std::int8_t value = 0;
    H5Tenum_insert(type, "FALSE", &value);
    value = 1;
    H5Tenum_insert(type, "TRUE", &value);
    const hsize_t extents[] = {2, 3};
    const hid_t space = H5Screate_simple(2, extents, nullptr);
    const hid_t set =
        H5Dcreate2(file.id(), "x", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const std::array<std::int8_t, 6> values = {0, 0, 1, 1, 0, 1};
    EXPECT_GE(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
  }
  const auto source = open_hdf5_fields({path()}, samples_of({{"x", "x"}}));
  EXPECT_THAT(read_sample(*source, 1)["x"], ElementsAre(1, 0, 1));
}

TEST_F(Hdf5Fields, MayHaveHalfPrecision) {
  const hid_t half = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(half, 15, 10, 5, 0, 10);
  H5Tset_size(half, 2);
  H5Tset_ebias(half, 15);
  TestFile(path()).add("x", {2, 3}, 0.5, half);
  H5Tclose(half);
  const auto source = open_hdf5_fields({path()}, samples_of({{"x", "x"}}));
  EXPECT_THAT(read_sample(*source, 1)["x"], ElementsAre(3.5, 4.5, 5.5));
}

TEST_F(Hdf5Fields, RefuseANumberThatIsTooLarge) {
  TestFile(path()).add("x", {2, 2, 1}, 1e200, H5T_NATIVE_DOUBLE);
  const auto source = open_hdf5_fields({path()}, samples_of({{"x", "x"}}));
  EXPECT_EQ(message_of<DataError>([&] { read_sample(*source, 1); }),
            path() + ": variable 'x' at (1, 0, 0): too large for the field");
}

TEST_F(Hdf5Fields, AreReadFromCompressedChunks) {
  TestFile(path()).add("x", {10, 6}, 0, H5T_NATIVE_FLOAT, {4, 4});
  const auto source = open_hdf5_fields({path()}, samples_of({{"x", "x"}}));
  const auto reader = source->reader();
  for (std::uint64_t i = 10; i-- > 0;)
    EXPECT_THAT(read_sample(*reader, *source, i)["x"], ElementsAreArray(numbers_from(6 * i, 6)));
}

constexpr H5Z_filter_t counting_filter = 300;  // 256 to 511 are for tests
std::size_t unpacked_chunks = 0;

/// A compression that changes nothing and counts how often it is undone.
std::size_t count_unpacking(unsigned flags, std::size_t, const unsigned*, std::size_t bytes,
                            std::size_t*, void**) {
  unpacked_chunks += (flags & H5Z_FLAG_REVERSE) != 0;
  return bytes;
}

TEST_F(Hdf5Fields, UnpackAChunkOnceForAllOfItsTiles) {
  const H5Z_class2_t filter = {.version = H5Z_CLASS_T_VERS,
                               .id = counting_filter,
                               .encoder_present = 1,
                               .decoder_present = 1,
                               .name = "counting",
                               .can_apply = nullptr,
                               .set_local = nullptr,
                               .filter = count_unpacking};
  ASSERT_GE(H5Zregister(&filter), 0);
  constexpr std::uint64_t side = 600;  // 1.4 MB, more than HDF5 keeps by default
  {
    const TestFile file(path());
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk[] = {1, side, side};
    H5Pset_chunk(creation, 3, chunk);
    H5Pset_filter(creation, counting_filter, 0, 0, nullptr);
    file.write("x", {2, side, side}, 0, H5T_NATIVE_FLOAT, creation);
    H5Pclose(creation);
  }
  const ArrayLayout layout{
      .fields = {{.name = "x",
                  .variable = "x",
                  .axes = {Axis::sample, Axis::tile_rows, Axis::tile_columns}}},
      .tile_rows = 200,
      .tile_columns = 200};
  const auto source = open_hdf5_fields({path()}, layout);
  ASSERT_EQ(source->samples(), 18U);
  const auto reader = source->reader();
  unpacked_chunks = 0;
  for (std::uint64_t i = 0; i < 18; ++i)
    EXPECT_EQ(read_sample(*reader, *source, i)["x"].front(),
              static_cast<double>(i / 9 * side * side + i % 9 / 3 * 200 * side + i % 3 * 200));
  EXPECT_EQ(unpacked_chunks, 2U);
  H5Zunregister(counting_filter);
}

TEST_F(Hdf5Fields, AreReadByManyThreadsFromManyFiles) {
  constexpr std::size_t files = 40;  // more than a reader keeps open
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < files; ++i) {
    paths.push_back(path(std::to_string(100 + i)));
    const TestFile file(paths.back());
    file.add("direct", {3, 4}, 12 * static_cast<double>(i));
    file.add("packed", {3, 4}, 12 * static_cast<double>(i), H5T_NATIVE_DOUBLE, {3, 4});
  }
  const auto source =
      open_hdf5_fields(paths, samples_of({{"direct", "direct"}, {"packed", "packed"}}));
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

TEST_F(Hdf5Fields, RefuseASampleThatDoesNotExist) {
  TestFile(path()).add("x", {3, 2});
  const auto source = open_hdf5_fields({path()}, samples_of({{"x", "x"}}));
  EXPECT_EQ(message_of<DataError>([&] { read_sample(*source, 3); }),
            path() + ": sample 3 does not exist: there are 3 up to this file");
}

TEST_F(Hdf5Fields, RefuseFilesWithoutSamples) {
  TestFile(path()).add("x", {0, 2});
  EXPECT_EQ(message_of<DataError>([&] {
              open_hdf5_fields({path(), path()}, samples_of({{"x", "x"}}));
            }),
            path() + ": no samples, in this file and all others");
}

TEST_F(Hdf5Fields, NameAFileThatIsMissing) {
  EXPECT_EQ(message_of<UsageError>([] {
              open_hdf5_fields({"/nowhere/a.h5"}, samples_of({{"x", "x"}}));
            }),
            "cannot read /nowhere/a.h5: No such file or directory");
}

/// What is wrong with the second of two files.
struct BadFileCase {
  std::string name;
  std::function<void(const std::string& path)> write;
  std::string message;  ///< Its beginning, where HDF5's own words follow.
};
void PrintTo(const BadFileCase& c, std::ostream* out) {
  *out << c.name;
}
class BadHdf5Test : public testing::TestWithParam<BadFileCase> {};

TEST_P(BadHdf5Test, IsNamedWithItsVariable) {
  const Folder folder;
  TestFile(folder.file("a")).add("x", {3, 2});
  GetParam().write(folder.file("b"));
  testing::internal::CaptureStderr();
  EXPECT_THAT(message_of<DataError>([&] {
                open_hdf5_fields({folder.file("a"), folder.file("b")}, samples_of({{"x", "x"}}));
              }),
              StartsWith(folder.file("b") + ": " + GetParam().message));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "HDF5 prints its errors";
}

void write_cut(const std::string& path) {
  TestFile(path).add("x", {3, 2000});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1000);
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadHdf5Test,
    testing::Values(
        BadFileCase{"Text", [](const std::string& path) { std::ofstream(path) << "text"; },
                    "cannot be opened as HDF5: "},
        BadFileCase{"Empty", [](const std::string& path) { std::ofstream(path).close(); },
                    "cannot be opened as HDF5: "},
        BadFileCase{"Cut", write_cut, "cannot be opened as HDF5: truncated file: "},
        BadFileCase{"NoVariable",
                    [](const std::string& path) {
                      TestFile(path).add("y", {3, 2});
                    },
                    "no variable 'x': object 'x' doesn't exist"},
        BadFileCase{"AGroup",
                    [](const std::string& path) {
                      TestFile(path).add("x/y", {3, 2});
                    },
                    "no variable 'x': not a dataset"},
        BadFileCase{"AnotherShape",
                    [](const std::string& path) {
                      TestFile(path).add("x", {3, 5});
                    },
                    "variable 'x' has samples of shape (5), in "},
        BadFileCase{"AnotherType",
                    [](const std::string& path) {
                      TestFile(path).add("x", {3, 2}, 0, H5T_NATIVE_DOUBLE);
                    },
                    "variable 'x' has float64 numbers, in "},
        BadFileCase{"OneNumber",
                    [](const std::string& path) {
                      const TestFile file(path);
                      const hid_t space = H5Screate(H5S_SCALAR);
                      H5Dclose(H5Dcreate2(file.id(), "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT,
                                          H5P_DEFAULT, H5P_DEFAULT));
                      H5Sclose(space);
                    },
                    "variable 'x' of shape () has fewer dimensions than field 'x' names, 1"},
        BadFileCase{"NoShape",
                    [](const std::string& path) {
                      const TestFile file(path);
                      const hid_t space = H5Screate(H5S_NULL);
                      H5Dclose(H5Dcreate2(file.id(), "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT,
                                          H5P_DEFAULT, H5P_DEFAULT));
                      H5Sclose(space);
                    },
                    "variable 'x' has no shape"},
        BadFileCase{"Texts",
                    [](const std::string& path) {
                      const TestFile file(path);
                      const hsize_t extents[] = {3, 2};
                      const hid_t space = H5Screate_simple(2, extents, nullptr);
                      H5Dclose(H5Dcreate2(file.id(), "x", H5T_C_S1, space, H5P_DEFAULT, H5P_DEFAULT,
                                          H5P_DEFAULT));
                      H5Sclose(space);
                    },
                    "variable 'x' has no numbers of a known type"}),
    [](const auto& instance) { return instance.param.name; });

TEST_F(Hdf5Fields, AreComparedWhenReadIfAFileIsASample) {
  TestFile(path("a")).add("x", {2, 3});
  TestFile(path("b")).add("x", {2, 4});
  const ArrayLayout layout{.fields = {{.name = "x", .variable = "x", .axes = {}}}};
  const auto source = open_hdf5_fields({path("a"), path("b")}, layout);
  EXPECT_EQ(source->samples(), 2U);
  EXPECT_EQ(message_of<DataError>([&] { read_sample(*source, 1); }),
            path("b") + ": variable 'x' has samples of shape (2, 4), in " + path("a") + " (2, 3)");
}

TEST_F(Hdf5Fields, NameTheIndexOfADamagedChunk) {
  TestFile(path()).add("x", {4, 5000}, 0, H5T_NATIVE_FLOAT, {2, 5000});
  const auto source = open_hdf5_fields({path()}, samples_of({{"x", "x"}}));
  // The chunks are at the end; the middle of the last one.
  std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path())) - 5000);
  file << std::string(1000, '\xff');
  file.close();
  testing::internal::CaptureStderr();
  EXPECT_THAT(message_of<DataError>([&] {
                for (std::uint64_t i = 0; i < 4; ++i)
                  read_sample(*source, i);
              }),
              StartsWith(path() + ": variable 'x' at (2, 0) cannot be read: "));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Hdf5Fields, NoticeAFileThatIsCutWhileItIsRead) {
  TestFile(path()).add("x", {4, 5000});
  const auto source = open_hdf5_fields({path()}, samples_of({{"x", "x"}}));
  const auto reader = source->reader();
  read_sample(*reader, *source, 0);
  const auto size = std::filesystem::file_size(path()) - 4;
  std::filesystem::resize_file(path(), size);
  EXPECT_EQ(message_of<DataError>([&] { read_sample(*reader, *source, 3); }),
            path() + ": byte " + std::to_string(size) + ": the file ends here");
}

TEST_F(Hdf5Fields, NoticeAFileThatLostSamples) {
  TestFile(path()).add("x", {4, 2});
  const auto source = open_hdf5_fields({path()}, samples_of({{"x", "x"}}));
  TestFile(path()).add("x", {3, 2});
  EXPECT_EQ(message_of<DataError>([&] { read_sample(*source, 0); }),
            path() + ": has 3 samples, had 4 before");
}

}  // namespace
}  // namespace bench::steps
#endif
