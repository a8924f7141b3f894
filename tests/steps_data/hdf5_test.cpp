#include "data/array_fields.hpp"
#include "data/field_files.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_HDF5
#include "steps_data/hdf5_test_file.hpp"

#include <hdf5.h>
#endif

namespace bench::steps {
namespace {

TEST(Hdf5Lock, AdmitsOneThreadWhichMayHoldSeveral) {
  int inside = 0;  // not atomic: two threads at once would lose calls
  int calls = 0;
  int most_inside = 0;
  for_each_index(8, 8, [&](std::size_t) {
    for (int i = 0; i < 1000; ++i) {
      const Hdf5Lock outer;
      const Hdf5Lock inner;
      ++calls;
      most_inside = std::max(most_inside, ++inside);
      --inside;
    }
  });
  EXPECT_EQ(calls, 8000);
  EXPECT_EQ(most_inside, 1);
}

// Files written with HDF5 itself.

#ifdef BENCH_STEPS_HDF5

using support::message_of;
using testing::ElementsAre;
using testing::ElementsAreArray;

class Hdf5Fields : public testing::Test {
 protected:
  std::string path(const std::string& name = "a.h5") const { return folder_.file(name); }

  Folder folder_;
};

TEST_F(Hdf5Fields, MayBeAFilePerSampleWithGroups) {
  for (const int i : {0, 1, 2}) {
    const Hdf5TestFile file(path(std::to_string(i)));
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

struct StoredInHdf5 {
  std::string name;
  hid_t stored;
  FieldType type;
  std::size_t bytes;
};
TEST(StoredType, IsConverted) {
  const StoredInHdf5 cases[] = {{"Float32", H5T_IEEE_F32LE, FieldType::float32, 4},
                                {"Float32BigEndian", H5T_IEEE_F32BE, FieldType::float32, 4},
                                {"Float64", H5T_IEEE_F64LE, FieldType::float32, 8},
                                {"Float64BigEndian", H5T_IEEE_F64BE, FieldType::float32, 8},
                                {"Int8", H5T_STD_I8LE, FieldType::int64, 1},
                                {"UInt8", H5T_STD_U8LE, FieldType::int64, 1},
                                {"Int16BigEndian", H5T_STD_I16BE, FieldType::int64, 2},
                                {"UInt16", H5T_STD_U16LE, FieldType::int64, 2},
                                {"Int32", H5T_STD_I32LE, FieldType::int64, 4},
                                {"UInt32", H5T_STD_U32LE, FieldType::int64, 4},
                                {"Int64", H5T_STD_I64LE, FieldType::int64, 8},
                                {"Int64BigEndian", H5T_STD_I64BE, FieldType::int64, 8},
                                {"UInt64", H5T_STD_U64LE, FieldType::int64, 8}};
  for (const StoredInHdf5& c : cases) {
    SCOPED_TRACE(c.name);
    const Folder folder;
    Hdf5TestFile(folder.file("a")).add("x", {3, 2}, 1, c.stored);
    const auto source = open_hdf5_fields({folder.file("a")}, samples_of({"x"}));
    EXPECT_EQ(source->fields().front().type, c.type);
    EXPECT_EQ(source->bytes(), 6 * c.bytes);
    EXPECT_THAT(read_sample(*source, 2)["x"], ElementsAre(5, 6));
  }
}

TEST_F(Hdf5Fields, MayTakeIntegersAsRealNumbers) {
  Hdf5TestFile(path()).add("x", {2, 3}, 0, H5T_STD_I16LE);
  ArrayLayout layout = samples_of({"x"});
  layout.fields[0].type = FieldType::float32;
  const auto source = open_hdf5_fields({path()}, layout);
  EXPECT_EQ(source->fields().front().type, FieldType::float32);
  EXPECT_THAT(read_sample(*source, 1)["x"], ElementsAre(3, 4, 5));
}

TEST_F(Hdf5Fields, MayBeTruthValuesAsPythonWritesThem) {
  {
    const Hdf5TestFile file(path());
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
  const auto source = open_hdf5_fields({path()}, samples_of({"x"}));
  EXPECT_THAT(read_sample(*source, 1)["x"], ElementsAre(1, 0, 1));
}

TEST_F(Hdf5Fields, MayHaveHalfPrecision) {
  const hid_t half = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(half, 15, 10, 5, 0, 10);
  H5Tset_size(half, 2);
  H5Tset_ebias(half, 15);
  Hdf5TestFile(path()).add("x", {2, 3}, 0.5, half);
  H5Tclose(half);
  const auto source = open_hdf5_fields({path()}, samples_of({"x"}));
  EXPECT_THAT(read_sample(*source, 1)["x"], ElementsAre(3.5, 4.5, 5.5));
}

TEST_F(Hdf5Fields, RefuseANumberThatIsTooLarge) {
  Hdf5TestFile(path()).add("x", {2, 2, 1}, 1e200, H5T_NATIVE_DOUBLE);
  const auto source = open_hdf5_fields({path()}, samples_of({"x"}));
  EXPECT_EQ(message_of<DataError>([&] { read_sample(*source, 1); }),
            path() + ": variable 'x' at (1, 0, 0): too large for the field");
}

TEST_F(Hdf5Fields, AreReadFromCompressedChunks) {
  Hdf5TestFile(path()).add("x", {10, 6}, 0, H5T_NATIVE_FLOAT, {4, 4});
  const auto source = open_hdf5_fields({path()}, samples_of({"x"}));
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
    const Hdf5TestFile file(path());
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

// HDF5 files that are damaged or do not fit together.

using testing::StartsWith;

class BadHdf5Fields : public testing::Test {
 protected:
  std::string path(const std::string& name = "a.h5") const { return folder_.file(name); }

  Folder folder_;
};

/// What is wrong with the second of two files.
struct Hdf5Damage {
  std::string name;
  std::function<void(const std::string& path)> write;
  std::string message;  ///< Its beginning, where HDF5's own words follow.
};
void write_cut(const std::string& path) {
  Hdf5TestFile(path).add("x", {3, 2000});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1000);
}

TEST(BadHdf5, IsNamedWithItsVariable) {
  const Hdf5Damage cases[] = {
      {"Text", [](const std::string& path) { std::ofstream(path) << "text"; },
       "cannot be opened as HDF5: "},
      {"Empty", [](const std::string& path) { std::ofstream(path).close(); },
       "cannot be opened as HDF5: "},
      {"Cut", write_cut, "cannot be opened as HDF5: truncated file: "},
      {"AGroup",
       [](const std::string& path) {
         Hdf5TestFile(path).add("x/y", {3, 2});
       },
       "no variable 'x': not a dataset"},
      {"OneNumber",
       [](const std::string& path) {
         const Hdf5TestFile file(path);
         const hid_t space = H5Screate(H5S_SCALAR);
         H5Dclose(H5Dcreate2(file.id(), "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT,
                             H5P_DEFAULT));
         H5Sclose(space);
       },
       "variable 'x' of shape () has fewer dimensions than field 'x' names, 1"},
      {"NoShape",
       [](const std::string& path) {
         const Hdf5TestFile file(path);
         const hid_t space = H5Screate(H5S_NULL);
         H5Dclose(H5Dcreate2(file.id(), "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT,
                             H5P_DEFAULT));
         H5Sclose(space);
       },
       "variable 'x' has no shape"},
      {"Texts",
       [](const std::string& path) {
         const Hdf5TestFile file(path);
         const hsize_t extents[] = {3, 2};
         const hid_t space = H5Screate_simple(2, extents, nullptr);
         H5Dclose(
             H5Dcreate2(file.id(), "x", H5T_C_S1, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
         H5Sclose(space);
       },
       "variable 'x' has no numbers of a known type"}};
  for (const Hdf5Damage& c : cases) {
    SCOPED_TRACE(c.name);
    const Folder folder;
    Hdf5TestFile(folder.file("a")).add("x", {3, 2});
    c.write(folder.file("b"));
    testing::internal::CaptureStderr();
    EXPECT_THAT(message_of<DataError>([&] {
                  open_hdf5_fields({folder.file("a"), folder.file("b")}, samples_of({"x"}));
                }),
                StartsWith(folder.file("b") + ": " + c.message));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "HDF5 prints its errors";
  }
}

TEST_F(BadHdf5Fields, NameTheIndexOfADamagedChunk) {
  Hdf5TestFile(path()).add("x", {4, 5000}, 0, H5T_NATIVE_FLOAT, {2, 5000});
  const auto source = open_hdf5_fields({path()}, samples_of({"x"}));
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

TEST_F(BadHdf5Fields, NoticeAFileThatIsCutWhileItIsRead) {
  Hdf5TestFile(path()).add("x", {4, 5000});
  const auto source = open_hdf5_fields({path()}, samples_of({"x"}));
  const auto reader = source->reader();
  read_sample(*reader, *source, 0);
  const auto size = std::filesystem::file_size(path()) - 4;
  std::filesystem::resize_file(path(), size);
  EXPECT_EQ(message_of<DataError>([&] { read_sample(*reader, *source, 3); }),
            path() + ": byte " + std::to_string(size) + ": the file ends here");
}

TEST_F(BadHdf5Fields, NoticeAFileThatLostSamples) {
  Hdf5TestFile(path()).add("x", {4, 2});
  const auto source = open_hdf5_fields({path()}, samples_of({"x"}));
  Hdf5TestFile(path()).add("x", {3, 2});
  EXPECT_EQ(message_of<DataError>([&] { read_sample(*source, 0); }),
            path() + ": has 3 samples, had 4 before");
}

#endif

}  // namespace
}  // namespace bench::steps
