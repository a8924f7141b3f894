// Golden bytes: from the description of the format.

#include "data/safetensors_header.hpp"

#include "data/files.hpp"
#include "support/message_of.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::steps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

TEST(SafetensorsHeader, NamesTypesShapesAndBytes) {
  const std::string bytes = file_of(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"I64","shape":[],"data_offsets":[12,20]},)"
      R"("a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]}})",
      std::string(20, 'x'));
  const std::vector<StoredTensor> tensors = read_safetensors_header("w.safetensors", bytes);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "a");
  EXPECT_EQ(tensors[0].type, "BF16");
  EXPECT_THAT(tensors[0].shape, ElementsAre(2, 3));
  EXPECT_EQ(tensors[0].begin, bytes.size() - 20);
  EXPECT_EQ(tensors[0].bytes, 12U);
  EXPECT_EQ(tensors[1].name, "b");
  EXPECT_TRUE(tensors[1].shape.empty());
  EXPECT_EQ(tensors[1].begin, bytes.size() - 8);
}

TEST(SafetensorsHeader, IsWrittenAsTheFormatSays) {
  const std::string header = safetensors_header(
      {{.name = "w", .type = "F32", .shape = {2}}, {.name = "n", .type = "I64", .shape = {}}},
      {{"format", "pt"}});
  const std::string json =
      R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
      R"("n":{"dtype":"I64","shape":[],"data_offsets":[8,16]}})";
  EXPECT_EQ(header.size() % 8, 0U);
  EXPECT_EQ(header.substr(8, json.size()), json);
  EXPECT_EQ(header.substr(8 + json.size()), std::string(header.size() - 8 - json.size(), ' '));
  EXPECT_EQ(read_safetensors_header("w", header + std::string(16, 'x')).size(), 2U);
}

struct DamagedHeader {
  const char* name;
  std::string bytes;
  const char* message;
};

std::string one_tensor(const std::string& entry, std::size_t bytes) {
  return file_of(R"({"w":)" + entry + "}", std::string(bytes, 'x'));
}

TEST(DamagedHeader, IsTold) {
  const DamagedHeader cases[] = {
      {"Empty", "", "too short"},
      {"OtherFormat", "PK\x03\x04 this is a zip file", "not a safetensors file"},
      {"CutHeader", file_of(R"({"w":{}})", "").substr(0, 12), "of which 4 are there"},
      {"NoJson", file_of("[1, 2", ""), "not a JSON object"},
      {"NoType", one_tensor(R"({"shape":[2],"data_offsets":[0,8]})", 8),
       "tensor 'w': its entry in the header is not whole"},
      {"UnknownType", one_tensor(R"({"dtype":"F8_E5M2","shape":[8],"data_offsets":[0,8]})", 8),
       "its type 'F8_E5M2' is unknown"},
      {"NegativeSize", one_tensor(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,8]})", 8),
       "its shape is too large"},
      {"HugeShape",
       one_tensor(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]})", 8),
       "its shape is too large"},
      {"OtherShape", one_tensor(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})", 8),
       "it has 8 bytes, its shape needs 12"},
      {"CutData", one_tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", 7),
       "its bytes 0 to 8 are not all in the file"},
      {"OffsetsTurned", one_tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})", 8),
       "its bytes 8 to 0 are not all in the file"},
      {"Gap", one_tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[4,12]})", 12),
       "tensor 'w' begins at byte"},
      {"MoreBehind", one_tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", 9),
       "these bytes belong to no tensor"}};
  for (const DamagedHeader& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(
        support::message_of<DataError>([&] { read_safetensors_header("w.safetensors", c.bytes); }),
        AllOf(HasSubstr("w.safetensors: byte "), HasSubstr(c.message)));
  }
}

}  // namespace
}  // namespace bench::steps
