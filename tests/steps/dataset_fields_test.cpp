// The real program `dataset fields`.

#include "data/array_fields.hpp"
#include "data/example.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "data/generated_samples.hpp"
#include "data/hdf5.hpp"
#include "data/netcdf.hpp"
#include "dataset/writers.hpp"
#include "harness/program.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/field_buffers.hpp"
#include "support/message_of.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

namespace bench::dataset {
namespace {

using steps::Axis;
using steps::Field;
using steps::FieldBuffers;
using steps::FieldType;
using steps::Folder;
using steps::Outcome;
using support::message_of;
using testing::HasSubstr;

Outcome run_fields(const std::string& arguments) {
  return steps::run_in_shell(DATASET_PROGRAM, "fields " + arguments);
}

const std::string two_fields = " --field group/x:float32:3x4:normal --field label:int64::10";

/// The samples of a folder, in the files' own order.
std::unique_ptr<steps::FieldSource> open_samples(const std::string& format,
                                                 const std::string& folder, bool sample_axis) {
  const std::vector<Axis> axes(sample_axis ? 1 : 0, Axis::sample);
  const steps::ArrayLayout layout{
      .fields = {{.name = "group/x", .variable = "group/x", .axes = axes},
                 {.name = "label", .variable = "label", .axes = axes}}};
  if (format == "hdf5")
    return steps::open_hdf5_fields(steps::find_data_files(folder, steps::hdf5_endings), layout);
  if (format == "netcdf")
    return steps::open_netcdf_fields(steps::find_data_files(folder, steps::netcdf_endings), layout);
  return steps::open_example_fields(
      steps::find_data_files(folder, steps::tfrecord_endings),
      {{.field = {"group/x", FieldType::float32, {3, 4}}, .feature = "group/x"},
       {.field = {"label", FieldType::int64, {}}, .feature = "label"}},
      1);
}

/// Compares all samples with those that the seed gives.
void expect_random_samples(const steps::FieldSource& source, std::uint64_t seed) {
  const auto makers = steps::synthetic_field_makers(
      {parse_field("group/x:float32:3x4:normal"), parse_field("label:int64::10")}, seed, 1);
  ASSERT_EQ(source.fields(), makers.front()->fields());
  const auto reader = source.reader();
  for (std::uint64_t i = 0; i < source.samples(); ++i) {
    FieldBuffers read(source.fields());
    reader->read(i, read.memory());
    EXPECT_EQ(read, made(*makers.front(), i)) << i;
  }
}

class DatasetFieldsTest : public testing::TestWithParam<std::string> {};

TEST_P(DatasetFieldsTest, WritesSamplesOfItsSeedIntoFiles) {
  const Folder folder;
  for (const char* compression : {"0", "3"}) {
    const std::string output = folder.file(compression);
    const Outcome outcome =
        run_fields("--format " + GetParam() + two_fields + " --samples 10 --samples-per-file 4" +
                   " --seed 7 --compression " + compression + " --output " + output);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.value("samples"), "10");
    EXPECT_EQ(outcome.value("files"), "3");
    EXPECT_EQ(outcome.value("result"), "ok");
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(output))
      bytes += entry.file_size();
    EXPECT_EQ(outcome.value("file_bytes"), std::to_string(bytes));
    const auto source = open_samples(GetParam(), output, true);
    EXPECT_EQ(source->samples(), 10U);
    expect_random_samples(*source, 7);
  }
}

TEST_P(DatasetFieldsTest, WritesAFilePerSample) {
  const Folder folder;
  const Outcome outcome = run_fields("--format " + GetParam() + two_fields +
                                     " --samples 3 --file-per-sample --output " + folder.file("d"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("files"), "3");
  const auto source = open_samples(GetParam(), folder.file("d"), false);
  EXPECT_EQ(source->samples(), 3U);
  expect_random_samples(*source, 1);
}

std::vector<std::string> built_formats() {
  std::vector<std::string> formats = {"tfrecord"};
#ifdef BENCH_STEPS_HDF5
  formats.emplace_back("hdf5");
#endif
#ifdef BENCH_STEPS_NETCDF
  formats.emplace_back("netcdf");
#endif
  return formats;
}

INSTANTIATE_TEST_SUITE_P(Formats, DatasetFieldsTest, testing::ValuesIn(built_formats()),
                         [](const auto& instance) { return instance.param; });

#ifdef BENCH_STEPS_HDF5
// A variable cannot be a group as well.
TEST(DatasetFields, LeavesNothingOfAFailedRun) {
  const Folder folder;
  const std::string arguments =
      "--format hdf5 --samples 2 --output " + folder.file("d") + " --field a:float32:3 --field ";
  EXPECT_EQ(run_fields(arguments + "a/b:float32:3").exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(folder.file("d")));
  const Outcome corrected = run_fields(arguments + "b:float32:3");
  EXPECT_EQ(corrected.exit_code, 0) << corrected.err;
}
#endif

TEST(DatasetFields, RefusesWrongArguments) {
  const Folder folder;
  std::filesystem::create_directory(folder.file("full"));
  std::filesystem::create_directory(folder.file("full/x"));
  const std::string format = "--format tfrecord --samples 2";
  const std::string to = " --output " + folder.file("d");
  struct Case {
    std::string arguments;
    const char* message;
  };
  const Case cases[] = {
      {format + to, "--field is required"},
      {"--samples 2 --field x:float32:3" + to, "--format is required"},
      {"--format zarr --samples 2 --field x:float32:3" + to, "--format: zarr not in"},
      {format + " --field x:float32:3", "--output is required"},
      {format + " --field x:float32:3 --output " + folder.file("full"), "full is not empty"},
      {format + " --field x:float32:3 --output /proc/d", "cannot write /proc/d: "},
      {format + " --field x:float32:3 --field x:int64:" + to, "two fields have the name 'x'"},
      {format + " --field x:float32:3 --file-per-sample --samples-per-file 2" + to, "excludes"},
      {format + " --field x:float32:3 --file-field y:float32:3" + to,
       "--file-field: a TFRecord file has only fields of samples"},
      {format + " --field x:float16:3" + to,
       "--field x:float16:3: 'float16' is neither float32 nor int64"},
  };
  for (const Case& c : cases) {
    const Outcome outcome = run_fields(c.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << c.arguments;
    EXPECT_THAT(outcome.err, HasSubstr(c.message)) << c.arguments;
    EXPECT_THAT(outcome.err, HasSubstr("\nhint: ")) << c.arguments;
  }
}

TEST(DatasetProgram, NeedsASubcommand) {
  const Outcome none = steps::run_in_shell(DATASET_PROGRAM, "");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("A subcommand is required"));
  const Outcome unknown = steps::run_in_shell(DATASET_PROGRAM, "feilds --help");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown subcommand 'feilds'"));
  const Outcome help = steps::run_in_shell(DATASET_PROGRAM, "--help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("images"));
  EXPECT_THAT(help.out, HasSubstr("fields"));
  const Outcome options = steps::run_in_shell(DATASET_PROGRAM, "fields --help");
  EXPECT_EQ(options.exit_code, 0);
  EXPECT_THAT(options.out, HasSubstr("--samples-per-file"));
}

struct OptionCase {
  std::string option;
  Field field;
  steps::Distribution distribution;
  std::uint32_t bound;
};
void PrintTo(const OptionCase& c, std::ostream* out) {
  *out << c.option;
}
class FieldOptionTest : public testing::TestWithParam<OptionCase> {};

TEST_P(FieldOptionTest, IsUnderstood) {
  const steps::SyntheticField field = parse_field(GetParam().option);
  EXPECT_EQ(field.field, GetParam().field);
  EXPECT_EQ(field.distribution, GetParam().distribution);
  EXPECT_EQ(field.bound, GetParam().bound);
}

INSTANTIATE_TEST_SUITE_P(
    Options, FieldOptionTest,
    testing::Values(
        OptionCase{"climate/data:float32:768x1152x16",
                   {"climate/data", FieldType::float32, {768, 1152, 16}},
                   steps::Distribution::uniform,
                   2},
        OptionCase{
            "x:float32:5:normal", {"x", FieldType::float32, {5}}, steps::Distribution::normal, 2},
        OptionCase{
            "y:float32::uniform", {"y", FieldType::float32, {}}, steps::Distribution::uniform, 2},
        OptionCase{"mask:int64:768x1152:3",
                   {"mask", FieldType::int64, {768, 1152}},
                   steps::Distribution::uniform,
                   3},
        OptionCase{
            "truth:int64:", {"truth", FieldType::int64, {}}, steps::Distribution::uniform, 2}));

struct BadOptionCase {
  std::string option;
  std::string message;
};
void PrintTo(const BadOptionCase& c, std::ostream* out) {
  *out << c.option;
}
class BadFieldOptionTest : public testing::TestWithParam<BadOptionCase> {};

TEST_P(BadFieldOptionTest, IsShown) {
  EXPECT_EQ(message_of<steps::UsageError>([] { parse_field(GetParam().option); }),
            "--field " + GetParam().option + ": " + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Options, BadFieldOptionTest,
    testing::Values(
        BadOptionCase{"x", "expected NAME:TYPE:SHAPE or NAME:TYPE:SHAPE:VALUES"},
        BadOptionCase{":float32:3", "expected NAME:TYPE:SHAPE or NAME:TYPE:SHAPE:VALUES"},
        BadOptionCase{"x:float32:3:normal:", "expected NAME:TYPE:SHAPE or NAME:TYPE:SHAPE:VALUES"},
        BadOptionCase{"x:double:3", "'double' is neither float32 nor int64"},
        BadOptionCase{"x:float32:3x", "'3x' is not a shape"},
        BadOptionCase{"x:float32:0", "'0' is not a shape"},
        BadOptionCase{"x:float32:3,4", "'3,4' is not a shape"},
        BadOptionCase{"x:float32:65536x65536", "a sample has more than 2^31 numbers"},
        BadOptionCase{"x:float32:3:gauss", "'gauss' is neither normal nor uniform"},
        BadOptionCase{"x:int64:3:0", "'0' is not a number of values"},
        BadOptionCase{"x:int64:3:normal", "'normal' is not a number of values"}));

}  // namespace
}  // namespace bench::dataset
