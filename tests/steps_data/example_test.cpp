#include "data/example.hpp"

#include "data/files.hpp"
#include "steps_data/hex.hpp"

#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <variant>

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
void PrintTo(const ReadCase& read, std::ostream* out) {
  *out << read.name;
}
class ExampleReadTest : public testing::TestWithParam<ReadCase> {};

TEST_P(ExampleReadTest, IsUnderstood) {
  const std::string bytes = unhex(GetParam().bytes);
  EXPECT_EQ(parse_example(bytes), GetParam().example);
}

INSTANTIATE_TEST_SUITE_P(
    Records, ExampleReadTest,
    testing::Values(
        ReadCase{"Packed",
                 "0a13 0a11 0a0179 120c 120a 0a08 0000803f 00000040",
                 {{"y", FloatList{1, 2}}}},
        ReadCase{"FloatsNotPacked",
                 "0a13 0a11 0a0179 120c 120a 0d0000803f 0d00000040",
                 {{"y", FloatList{1, 2}}}},
        ReadCase{"IntegersNotPacked",
                 "0a0e 0a0c 0a0179 1207 1a05 0801 08ac02",
                 {{"y", Int64List{1, 300}}}},
        ReadCase{"ValueBeforeName", "0a0c 0a0a 1205 1a03 0a0107 0a0179", {{"y", Int64List{7}}}},
        ReadCase{"UnknownFields",
                 "1801 210102030405060708 2a03616263 3501020304 0a0c 0a0a 0a0179 1205 1a03 0a0107",
                 {{"y", Int64List{7}}}},
        ReadCase{"TwiceTheLastCounts",
                 "0a18 0a0a 0a0179 1205 1a03 0a0107 0a0a 0a0179 1205 1a03 0a0108",
                 {{"y", Int64List{8}}}},
        ReadCase{"NoValue", "0a05 0a03 0a0179", {{"y", std::monostate{}}}},
        ReadCase{"Nothing", "", {}}),
    [](const auto& instance) { return instance.param.name; });

struct BrokenCase {
  std::string name;
  std::string bytes;
  std::string message;
};
void PrintTo(const BrokenCase& broken, std::ostream* out) {
  *out << broken.name;
}
class ExampleBrokenTest : public testing::TestWithParam<BrokenCase> {};

TEST_P(ExampleBrokenTest, IsToldWithItsPlace) {
  const std::string bytes = unhex(GetParam().bytes);
  try {
    parse_example(bytes, "shard", 1000);
    FAIL() << "nothing noticed";
  } catch (const DataError& error) {
    EXPECT_EQ(error.what(), "shard: byte " + GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Records, ExampleBrokenTest,
    testing::Values(BrokenCase{"Cut", "0a13 0a11", "1002: a field of 19 bytes, where 2 are left"},
                    BrokenCase{"InnerLongerThanOuter", "0a05 0a11 0a0179",
                               "1004: a field of 17 bytes, where 3 are left"},
                    BrokenCase{"OpenNumber", "0a80", "1002: a number that does not end"},
                    BrokenCase{"LongNumber", "ffffffffffffffffffff01",
                               "1010: a number of more than ten bytes"},
                    BrokenCase{"EndlessField", "0affffffffffffffffff01",
                               "1011: a field of 18446744073709551615 bytes, where 0 are left"},
                    BrokenCase{"Group", "0b", "1001: a field of type 3, which does not exist"},
                    BrokenCase{"NoMessage", "0801", "1002: field 1 is not a message"},
                    BrokenCase{"HalfFloat", "0a0c 0a0a 0a0179 1205 1203 0a0107",
                               "1013: a field of 4 bytes, where 1 are left"},
                    BrokenCase{"NumberAmongBytes", "0a0b 0a09 0a0179 1204 0a02 0801",
                               "1013: a list of bytes with something else in it"}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace bench::steps
