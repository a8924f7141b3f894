#include "data/example.hpp"

#include "data/fields.hpp"
#include "data/files.hpp"
#include "data/tfrecord.hpp"
#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/hex.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::HasSubstr;

TEST(Example, WritesTheKnownRecord) {
  EXPECT_EQ(hex(write_example({{"y", FloatList{1, 2}}})),
            "0a130a110a0179120c120a0a080000803f00000040");
}

TEST(Example, ReadsWhatWasWritten) {
  const Example example = {
      {"bytes", BytesList{"a", "", std::string_view("\0\xff", 2)}},
      {"class", Int64List{0, 1, -1, 300, std::numeric_limits<std::int64_t>::min()}},
      {"empty", FloatList{}},
      {"floats", FloatList{-0.5F, 1e30F}},
      {"nothing", std::monostate{}}};
  const std::string bytes = write_example(example);
  EXPECT_EQ(parse_example(bytes), example);
}

struct ReadCase {
  std::string name;
  std::string bytes;
  Example example;
};
TEST(ExampleRead, IsUnderstood) {
  const ReadCase cases[] = {
      {"Packed", "0a13 0a11 0a0179 120c 120a 0a08 0000803f 00000040", {{"y", FloatList{1, 2}}}},
      {"FloatsNotPacked",
       "0a13 0a11 0a0179 120c 120a 0d0000803f 0d00000040",
       {{"y", FloatList{1, 2}}}},
      {"IntegersNotPacked", "0a0e 0a0c 0a0179 1207 1a05 0801 08ac02", {{"y", Int64List{1, 300}}}},
      {"ValueBeforeName", "0a0c 0a0a 1205 1a03 0a0107 0a0179", {{"y", Int64List{7}}}},
      {"UnknownFields",
       "1801 210102030405060708 2a03616263 3501020304 0a0c 0a0a 0a0179 1205 1a03 0a0107",
       {{"y", Int64List{7}}}},
      {"TwiceTheLastCounts",
       "0a18 0a0a 0a0179 1205 1a03 0a0107 0a0a 0a0179 1205 1a03 0a0108",
       {{"y", Int64List{8}}}},
      {"NoValue", "0a05 0a03 0a0179", {{"y", std::monostate{}}}},
      {"Nothing", "", {}}};
  for (const ReadCase& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string bytes = unhex(c.bytes);
    EXPECT_EQ(parse_example(bytes), c.example);
  }
}

struct BrokenCase {
  std::string name;
  std::string bytes;
  std::string message;
};
TEST(ExampleBroken, IsToldWithItsPlace) {
  const BrokenCase cases[] = {
      {"Cut", "0a13 0a11", "1002: a field of 19 bytes, where 2 are left"},
      {"InnerLongerThanOuter", "0a05 0a11 0a0179", "1004: a field of 17 bytes, where 3 are left"},
      {"OpenNumber", "0a80", "1002: a number that does not end"},
      {"LongNumber", "ffffffffffffffffffff01", "1010: a number of more than ten bytes"},
      {"EndlessField", "0affffffffffffffffff01",
       "1011: a field of 18446744073709551615 bytes, where 0 are left"},
      {"Group", "0b", "1001: a field of type 3, which does not exist"},
      {"NoMessage", "0801", "1002: field 1 is not a message"},
      {"HalfFloat", "0a0c 0a0a 0a0179 1205 1203 0a0107",
       "1013: a field of 4 bytes, where 1 are left"},
      {"NumberAmongBytes", "0a0b 0a09 0a0179 1204 0a02 0801",
       "1013: a list of bytes with something else in it"}};
  for (const BrokenCase& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string bytes = unhex(c.bytes);
    EXPECT_EQ(support::message_of<DataError>([&] { parse_example(bytes, "shard", 1000); }),
              "shard: byte " + c.message);
  }
}

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
Example with(const std::string& name, Feature value) {
  Example changed = example(1);
  changed[name] = std::move(value);
  return changed;
}

TEST(BadExample, IsNamedWithFileAndOffset) {
  const ExampleMistake cases[] = {
      {"Missing", {}, "feature 'hl_inputs' is missing"},
      {"Integers", with("hl_inputs", Int64List(6)), "feature 'hl_inputs' is not a list of floats"},
      {"Floats", with("class", FloatList{1}), "feature 'class' is not a list of integers"},
      {"NoBytes", with("x", Int64List{1, 2, 3}), "feature 'x' is not a list of bytes"},
      {"TooFew", with("hl_inputs", FloatList(5)), "feature 'hl_inputs' has 5 numbers, expected 6"},
      {"TooMany", with("class", Int64List{1, 2}), "feature 'class' has 2 numbers, expected 1"},
      {"TwoStrings", with("x", BytesList{three_counts, three_counts}),
       "feature 'x' has 2 strings of bytes, expected 1"},
      {"TooFewBytes", with("x", BytesList{"12345"}), "feature 'x' has 5 bytes, expected 6"}};
  for (const ExampleMistake& c : cases) {
    SCOPED_TRACE(c.name);
    const Folder folder;
    write_records(folder.file("a"), {example(1), c.example});
    const std::uint64_t second = TfRecordFile(folder.file("a")).record_offsets()[1];
    const auto source = open_example_fields({folder.file("a")}, {column, label, counts}, 1);
    EXPECT_EQ(message_of<DataError>([&] { read_sample(*source, 1); }),
              folder.file("a") + ": byte " + std::to_string(second) + ": " + c.message);
  }
}

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
