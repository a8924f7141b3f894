#include "data/field_files.hpp"

#include "data/array_fields.hpp"
#include "data/example.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using support::message_of;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::StartsWith;

std::string format_name(FieldFormat format) {
  return format == FieldFormat::tfrecord ? "Tfrecord"
         : format == FieldFormat::hdf5   ? "Hdf5"
                                         : "Netcdf";
}

/// Formats and compressions that this build has.
std::vector<std::pair<FieldFormat, int>> built_field_formats() {
  std::vector<std::pair<FieldFormat, int>> formats = {{FieldFormat::tfrecord, 0}};
#ifdef BENCH_STEPS_ZLIB
  formats.emplace_back(FieldFormat::tfrecord, 6);
#endif
#ifdef BENCH_STEPS_HDF5
  formats.insert(formats.end(), {{FieldFormat::hdf5, 0}, {FieldFormat::hdf5, 6}});
#endif
#ifdef BENCH_STEPS_NETCDF
  formats.insert(formats.end(), {{FieldFormat::netcdf, 0}, {FieldFormat::netcdf, 6}});
#endif
  return formats;
}

const std::vector<Field> three_fields = {{"climate/data", FieldType::float32, {2, 3}},
                                         {"climate/labels", FieldType::int64, {2}},
                                         {"year", FieldType::int64, {}}};

/// Each field of sample i has the numbers 10 i, 10 i + 1, ...
FieldBuffers sample_of_numbers(std::uint64_t sample) {
  FieldBuffers buffers(three_fields);
  const auto fill = [&](auto numbers) {
    std::int64_t next = 10 * static_cast<std::int64_t>(sample);
    for (auto& number : numbers)
      number = static_cast<std::remove_reference_t<decltype(number)>>(next++);
  };
  for (std::size_t i = 0; i < three_fields.size(); ++i)
    if (three_fields[i].type == FieldType::float32)
      fill(floats(buffers.memory()[i]));
    else
      fill(integers(buffers.memory()[i]));
  return buffers;
}

void write_samples(FieldFormat format, const std::string& path, const FieldFile& file) {
  const auto writer = make_field_writer(format, path, three_fields, file);
  for (std::uint64_t i = 0; i < file.samples; ++i)
    writer->add(sample_of_numbers(i).memory());
  writer->finish();
}

std::unique_ptr<FieldSource> open_samples(FieldFormat format, const std::string& path,
                                          bool sample_axis) {
  if (format == FieldFormat::tfrecord) {
    std::vector<ExampleField> fields;
    for (const Field& field : three_fields)
      fields.push_back({.field = field, .feature = field.name, .raw = std::nullopt});
    return open_example_fields({path}, fields, 1);
  }
  ArrayLayout layout;
  for (const Field& field : three_fields)
    layout.fields.push_back({.name = field.name, .axes = {}});
  if (sample_axis)
    for (ArrayField& field : layout.fields)
      field.axes = {Axis::sample};
  return format == FieldFormat::hdf5 ? open_hdf5_fields({path}, layout)
                                     : open_netcdf_fields({path}, layout);
}

class FieldWriterTest : public testing::TestWithParam<std::pair<FieldFormat, int>> {};

TEST_P(FieldWriterTest, WritesWhatIsReadAgain) {
  const Folder folder;
  const auto [format, compression] = GetParam();
  write_samples(format, folder.file("a"), {.samples = 5, .compression = compression});
  const auto source = open_samples(format, folder.file("a"), true);
  EXPECT_EQ(source->fields(), three_fields);
  ASSERT_EQ(source->samples(), 5U);
  for (std::uint64_t i = 0; i < 5; ++i) {
    FieldBuffers expected = sample_of_numbers(i);
    EXPECT_EQ(read_sample(*source, i), numbers_of(expected, three_fields)) << i;
  }
}

TEST_P(FieldWriterTest, WritesOneSampleWithoutADimensionForIt) {
  const Folder folder;
  const auto [format, compression] = GetParam();
  write_samples(format, folder.file("a"), {.sample_axis = false, .compression = compression});
  const auto source = open_samples(format, folder.file("a"), false);
  EXPECT_EQ(source->fields(), three_fields);
  EXPECT_EQ(source->samples(), 1U);
  EXPECT_THAT(read_sample(*source, 0)["climate/data"], ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_P(FieldWriterTest, CompressesIfAsked) {
  const Folder folder;
  const auto [format, compression] = GetParam();
  const std::vector<Field> fields = {{"zeros", FieldType::float32, {100'000}}};
  FieldBuffers zeros(fields);
  const auto writer = make_field_writer(format, folder.file("a"), fields,
                                        {.samples = 2, .compression = compression});
  for (int i = 0; i < 2; ++i)
    writer->add(zeros.memory());
  writer->finish();
  if (compression > 0)
    EXPECT_LT(std::filesystem::file_size(folder.file("a")), 50'000U);
  else
    EXPECT_GE(std::filesystem::file_size(folder.file("a")), 800'000U);
}

TEST_P(FieldWriterTest, NamesAFileThatCannotBeWritten) {
  testing::internal::CaptureStderr();
  EXPECT_THAT(message_of<UsageError>([] {
                make_field_writer(GetParam().first, "/nowhere/a", three_fields,
                                  {.samples = 1, .compression = GetParam().second});
              }),
              StartsWith("cannot write /nowhere/a"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

INSTANTIATE_TEST_SUITE_P(Formats, FieldWriterTest, testing::ValuesIn(built_field_formats()),
                         [](const auto& instance) {
                           return format_name(instance.param.first) +
                                  (instance.param.second > 0 ? "Compressed" : "");
                         });

TEST(ArrayFiles, HaveFieldsOfSamplesAndOfTheFile) {
  const ArrayLayout layout{.fields = {{.name = "climate/data", .axes = {Axis::sample}},
                                      {.name = "climate/labels", .axes = {}},
                                      {.name = "year", .axes = {Axis::sample}}}};
  for (const auto& [format, compression] : built_field_formats()) {
    if (format == FieldFormat::tfrecord)
      continue;
    const Folder folder;
    const std::string path = folder.file(format == FieldFormat::hdf5 ? "a.h5" : "a.nc");
    write_samples(format, path,
                  {.samples = 3, .compression = compression, .once = {"climate/labels"}});
    auto sample = read_sample(*open_array_files({path}, layout, three_fields), 2);
    EXPECT_THAT(sample["climate/data"], ElementsAre(20, 21, 22, 23, 24, 25));
    EXPECT_THAT(sample["climate/labels"], ElementsAre(0, 1));
    std::vector<Field> others = three_fields;
    others[1].shape = {2, 6};
    EXPECT_EQ(message_of<DataError>([&] { open_array_files({path}, layout, others); }),
              path + ": a sample of variable 'climate/labels' is int64 (2), expected int64 (2, 6)");
  }
}

TEST(FieldFile, CompressesSmallSamplesTogether) {
  const FieldFile file{.samples = 100'000};
  EXPECT_THAT(file.chunk_of({"year", FieldType::int64, {}}), ElementsAre(8192));
  EXPECT_THAT(file.chunk_of({"x", FieldType::float32, {100, 100}}), ElementsAre(1, 100, 100));
  const FieldFile few{.samples = 3};
  EXPECT_THAT(few.chunk_of({"year", FieldType::int64, {}}), ElementsAre(3));
}

#ifdef BENCH_STEPS_HDF5

/// A Python with h5py, empty where there is none: Debian's, even if another is first on PATH.
std::string python_with_h5py() {
  for (const std::string python : {"python3", "/usr/bin/python3"})
    if (std::system((python + " -c 'import h5py' 2> /dev/null").c_str()) == 0)
      return python;
  return "";
}

class Hdf5AndPython : public testing::Test {
 protected:
  void SetUp() override {
    if (python_.empty())
      GTEST_SKIP() << "no Python with h5py here";
  }

  void run(const std::string& script) const {
    std::ofstream(folder_.file("script.py")) << "import h5py, numpy\n" << script;
    EXPECT_EQ(
        std::system(
            fmt::format("cd {} && {} -W ignore script.py", folder_.file(""), python_).c_str()),
        0);
  }

  std::string python_ = python_with_h5py();
  Folder folder_;
};

TEST_F(Hdf5AndPython, PythonReadsWhatIsWritten) {
  write_samples(FieldFormat::hdf5, folder_.file("a.h5"), {.samples = 5, .compression = 4});
  run("with h5py.File('a.h5') as file:\n"
      "    data = file['climate/data']\n"
      "    assert data.shape == (5, 2, 3) and data.dtype == '<f4' and data.compression == 'gzip'\n"
      "    assert (data[4] == [[40, 41, 42], [43, 44, 45]]).all()\n"
      "    assert file['year'].shape == (5,) and file['year'][3] == 30\n"
      "    assert file['climate/labels'].dtype == '<i8'\n");
}

TEST_F(Hdf5AndPython, WhatPythonWritesIsRead) {
  run("with h5py.File('a.h5', 'w') as file:\n"
      "    numbers = numpy.arange(24).reshape(4, 6)\n"
      "    file.create_dataset('half', data=numbers.astype('f2'))\n"
      "    file.create_dataset('big', data=numbers.astype('>f8'), chunks=(2, 5), "
      "compression='gzip',"
      " shuffle=True)\n"
      "    file.create_dataset('truth', data=numbers % 2 == 1)\n"
      "    file.create_dataset('short', data=numbers.astype('i2'), fletcher32=True)\n");
  ArrayLayout layout;
  for (const char* name : {"half", "big", "truth", "short"})
    layout.fields.push_back({.name = name, .axes = {Axis::sample}});
  const auto source = open_hdf5_fields({folder_.file("a.h5")}, layout);
  auto sample = read_sample(*source, 3);
  for (const char* name : {"half", "big", "short"})
    EXPECT_THAT(sample[name], ElementsAreArray(numbers_from(18, 6))) << name;
  EXPECT_THAT(sample["truth"], ElementsAre(0, 1, 0, 1, 0, 1));
}

#endif

}  // namespace
}  // namespace bench::steps
