#include "data/example.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "data/number_type.hpp"
#include "data/parallel.hpp"
#include "data/tfrecord.hpp"
#include "harness/program.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/hex.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using support::message_of;
using testing::ElementsAre;

const ExampleField column{.field = {"column", FieldType::float32, {2, 3}}, .feature = "hl_inputs"};
const ExampleField label{.field = {"label", FieldType::int64, {}}, .feature = "class"};
/// As CosmoFlow stores its counts.
const ExampleField counts{
    .field = {"counts", FieldType::float32, {3}}, .feature = "x", .raw = NumberType::int16};

const std::string three_counts = unhex("0100 ffff ff7f");  // 1, -1, 32767

Example example(float first) {
  return {{"hl_inputs", FloatList{first, 1, 2, 3, 4, 5}},
          {"class", Int64List{static_cast<std::int64_t>(first)}},
          {"other", Int64List{}},
          {"x", BytesList{three_counts}}};
}

void write_records(const std::string& path, const std::vector<Example>& examples) {
  TfRecordWriter writer(path);
  for (const Example& record : examples)
    writer.add(write_example(record));
  writer.finish();
}

TEST(ExampleFields, AreReadFromAllFiles) {
  const Folder folder;
  write_records(folder.file("a"), {example(10), example(20)});
  write_records(folder.file("b"), {example(30)});
  const auto source =
      open_example_fields({folder.file("a"), folder.file("b")}, {label, column, counts}, 2);
  EXPECT_EQ(source->samples(), 3U);
  EXPECT_EQ(source->fields(), (std::vector<Field>{label.field, column.field, counts.field}));
  EXPECT_EQ(source->bytes(), std::filesystem::file_size(folder.file("a")) +
                                 std::filesystem::file_size(folder.file("b")));
  auto sample = read_sample(*source, 2);
  EXPECT_THAT(sample["label"], ElementsAre(30));
  EXPECT_THAT(sample["column"], ElementsAre(30, 1, 2, 3, 4, 5));
  EXPECT_THAT(sample["counts"], ElementsAre(1, -1, 32767));
}

TEST(ExampleFields, AreReadByManyThreads) {
  const Folder folder;
  std::vector<Example> examples;
  for (int i = 0; i < 20; ++i)
    examples.push_back(example(static_cast<float>(i)));
  write_records(folder.file("a"), examples);
  const auto source = open_example_fields({folder.file("a")}, {column}, 1, 20);
  std::vector<double> first(8 * 20);
  for_each_index(8, 8, [&](std::size_t thread) {
    const auto reader = source->reader();
    for (std::size_t i = 0; i < 20; ++i)
      first[thread * 20 + i] = read_sample(*reader, *source, i)["column"].front();
  });
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_EQ(first[i], static_cast<double>(i % 20));
}

struct ExampleMistake {
  std::string name;
  Example example;
  std::string message;
};
void PrintTo(const ExampleMistake& c, std::ostream* out) {
  *out << c.name;
}
class BadExampleTest : public testing::TestWithParam<ExampleMistake> {};

TEST_P(BadExampleTest, IsNamedWithFileAndOffset) {
  const Folder folder;
  write_records(folder.file("a"), {example(1), GetParam().example});
  const std::uint64_t second = TfRecordFile(folder.file("a")).record_offsets()[1];
  const auto source = open_example_fields({folder.file("a")}, {column, label, counts}, 1);
  EXPECT_EQ(message_of<DataError>([&] { read_sample(*source, 1); }),
            folder.file("a") + ": byte " + std::to_string(second) + ": " + GetParam().message);
}

Example with(const std::string& name, Feature value) {
  Example changed = example(1);
  changed[name] = std::move(value);
  return changed;
}

INSTANTIATE_TEST_SUITE_P(
    Records, BadExampleTest,
    testing::Values(ExampleMistake{"Missing", {}, "feature 'hl_inputs' is missing"},
                    ExampleMistake{"Integers", with("hl_inputs", Int64List(6)),
                                   "feature 'hl_inputs' is not a list of floats"},
                    ExampleMistake{"Floats", with("class", FloatList{1}),
                                   "feature 'class' is not a list of integers"},
                    ExampleMistake{"NoBytes", with("x", Int64List{1, 2, 3}),
                                   "feature 'x' is not a list of bytes"},
                    ExampleMistake{"TooFew", with("hl_inputs", FloatList(5)),
                                   "feature 'hl_inputs' has 5 numbers, expected 6"},
                    ExampleMistake{"TooMany", with("class", Int64List{1, 2}),
                                   "feature 'class' has 2 numbers, expected 1"},
                    ExampleMistake{"TwoStrings", with("x", BytesList{three_counts, three_counts}),
                                   "feature 'x' has 2 strings of bytes, expected 1"},
                    ExampleMistake{"TooFewBytes", with("x", BytesList{"12345"}),
                                   "feature 'x' has 5 bytes, expected 6"}),
    [](const auto& instance) { return instance.param.name; });

TEST(ExampleFields, RefuseRawNumbersThatAreTooLarge) {
  const Folder folder;
  const std::string numbers = unhex("0100000000000000 0000000000000080");
  write_records(folder.file("a"), {{{"n", BytesList{numbers}}}});
  const ExampleField field{
      .field = {"n", FieldType::int64, {2}}, .feature = "n", .raw = NumberType::uint64};
  const auto source = open_example_fields({folder.file("a")}, {field}, 1);
  EXPECT_EQ(
      message_of<DataError>([&] { read_sample(*source, 0); }),
      folder.file("a") + ": byte 0: feature 'n' has number 1, which is too large for the field");
}

TEST(ExampleFields, RefuseRealNumbersInAFieldOfIntegers) {
  const ExampleField field{
      .field = {"n", FieldType::int64, {2}}, .feature = "x", .raw = NumberType::float32};
  EXPECT_EQ(message_of<UsageError>([&] { open_example_fields({"a"}, {field}, 1); }),
            "field 'n' has integers, feature 'x' float32");
}

TEST(ExampleFields, RefuseFilesWithoutRecords) {
  const Folder folder;
  write_records(folder.file("a"), {});
  EXPECT_EQ(message_of<DataError>([&] { open_example_fields({folder.file("a")}, {column}, 1); }),
            folder.file("a") + ": no records, in this file and all others");
}

TEST(ExampleFields, RefuseASampleThatDoesNotExist) {
  const Folder folder;
  write_records(folder.file("a"), {example(1)});
  const auto source = open_example_fields({folder.file("a")}, {column}, 1);
  EXPECT_EQ(message_of<DataError>([&] { read_sample(*source, 1); }),
            folder.file("a") + ": record 1 does not exist: there are 1 up to this file");
}

}  // namespace
}  // namespace bench::steps
