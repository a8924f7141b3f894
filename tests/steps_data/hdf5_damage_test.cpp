// HDF5 files that are damaged or do not fit together.

#include "data/array_fields.hpp"
#include "data/files.hpp"
#include "data/hdf5.hpp"
#include "harness/program.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_HDF5
#include "steps_data/hdf5_test_file.hpp"

#include <hdf5.h>

namespace bench::steps {
namespace {

using support::message_of;
using testing::StartsWith;

class BadHdf5Fields : public testing::Test {
 protected:
  std::string path(const std::string& name = "a.h5") const { return folder_.file(name); }

  Folder folder_;
};

TEST_F(BadHdf5Fields, RefuseASampleThatDoesNotExist) {
  Hdf5TestFile(path()).add("x", {3, 2});
  const auto source = open_hdf5_fields({path()}, samples_of({"x"}));
  EXPECT_EQ(message_of<DataError>([&] { read_sample(*source, 3); }),
            path() + ": sample 3 does not exist: there are 3 up to this file");
}

TEST_F(BadHdf5Fields, RefuseFilesWithoutSamples) {
  Hdf5TestFile(path()).add("x", {0, 2});
  EXPECT_EQ(message_of<DataError>([&] {
              open_hdf5_fields({path(), path()}, samples_of({"x"}));
            }),
            path() + ": no samples, in this file and all others");
}

TEST_F(BadHdf5Fields, NameAFileThatIsMissing) {
  EXPECT_EQ(message_of<UsageError>([] { open_hdf5_fields({"/nowhere/a.h5"}, samples_of({"x"})); }),
            "cannot read /nowhere/a.h5: No such file or directory");
}

/// What is wrong with the second of two files.
struct Hdf5Damage {
  std::string name;
  std::function<void(const std::string& path)> write;
  std::string message;  ///< Its beginning, where HDF5's own words follow.
};
void PrintTo(const Hdf5Damage& c, std::ostream* out) {
  *out << c.name;
}
class BadHdf5Test : public testing::TestWithParam<Hdf5Damage> {};

TEST_P(BadHdf5Test, IsNamedWithItsVariable) {
  const Folder folder;
  Hdf5TestFile(folder.file("a")).add("x", {3, 2});
  GetParam().write(folder.file("b"));
  testing::internal::CaptureStderr();
  EXPECT_THAT(message_of<DataError>([&] {
                open_hdf5_fields({folder.file("a"), folder.file("b")}, samples_of({"x"}));
              }),
              StartsWith(folder.file("b") + ": " + GetParam().message));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "HDF5 prints its errors";
}

void write_cut(const std::string& path) {
  Hdf5TestFile(path).add("x", {3, 2000});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1000);
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadHdf5Test,
    testing::Values(
        Hdf5Damage{"Text", [](const std::string& path) { std::ofstream(path) << "text"; },
                   "cannot be opened as HDF5: "},
        Hdf5Damage{"Empty", [](const std::string& path) { std::ofstream(path).close(); },
                   "cannot be opened as HDF5: "},
        Hdf5Damage{"Cut", write_cut, "cannot be opened as HDF5: truncated file: "},
        Hdf5Damage{"NoVariable",
                   [](const std::string& path) {
                     Hdf5TestFile(path).add("y", {3, 2});
                   },
                   "no variable 'x': object 'x' doesn't exist"},
        Hdf5Damage{"AGroup",
                   [](const std::string& path) {
                     Hdf5TestFile(path).add("x/y", {3, 2});
                   },
                   "no variable 'x': not a dataset"},
        Hdf5Damage{"AnotherShape",
                   [](const std::string& path) {
                     Hdf5TestFile(path).add("x", {3, 5});
                   },
                   "variable 'x' has samples of shape (5), in "},
        Hdf5Damage{"AnotherType",
                   [](const std::string& path) {
                     Hdf5TestFile(path).add("x", {3, 2}, 0, H5T_NATIVE_DOUBLE);
                   },
                   "variable 'x' has float64 numbers, in "},
        Hdf5Damage{"OneNumber",
                   [](const std::string& path) {
                     const Hdf5TestFile file(path);
                     const hid_t space = H5Screate(H5S_SCALAR);
                     H5Dclose(H5Dcreate2(file.id(), "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT,
                                         H5P_DEFAULT, H5P_DEFAULT));
                     H5Sclose(space);
                   },
                   "variable 'x' of shape () has fewer dimensions than field 'x' names, 1"},
        Hdf5Damage{"NoShape",
                   [](const std::string& path) {
                     const Hdf5TestFile file(path);
                     const hid_t space = H5Screate(H5S_NULL);
                     H5Dclose(H5Dcreate2(file.id(), "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT,
                                         H5P_DEFAULT, H5P_DEFAULT));
                     H5Sclose(space);
                   },
                   "variable 'x' has no shape"},
        Hdf5Damage{"Texts",
                   [](const std::string& path) {
                     const Hdf5TestFile file(path);
                     const hsize_t extents[] = {3, 2};
                     const hid_t space = H5Screate_simple(2, extents, nullptr);
                     H5Dclose(H5Dcreate2(file.id(), "x", H5T_C_S1, space, H5P_DEFAULT, H5P_DEFAULT,
                                         H5P_DEFAULT));
                     H5Sclose(space);
                   },
                   "variable 'x' has no numbers of a known type"}),
    [](const auto& instance) { return instance.param.name; });

TEST_F(BadHdf5Fields, AreComparedWhenReadIfAFileIsASample) {
  Hdf5TestFile(path("a")).add("x", {2, 3});
  Hdf5TestFile(path("b")).add("x", {2, 4});
  const ArrayLayout layout{.fields = {{.name = "x", .variable = "x", .axes = {}}}};
  const auto source = open_hdf5_fields({path("a"), path("b")}, layout);
  EXPECT_EQ(source->samples(), 2U);
  EXPECT_EQ(message_of<DataError>([&] { read_sample(*source, 1); }),
            path("b") + ": variable 'x' has samples of shape (2, 4), in " + path("a") + " (2, 3)");
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

}  // namespace
}  // namespace bench::steps
#endif
