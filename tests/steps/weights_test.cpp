#include "harness/weights.hpp"

#include "data/files.hpp"
#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "support/message_of.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::steps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// With parameters, and with buffers of two types.
torch::nn::Sequential small_network(std::int64_t width) {
  torch::manual_seed(static_cast<std::uint64_t>(width));
  return torch::nn::Sequential(torch::nn::Linear(3, width), torch::nn::BatchNorm1d(width));
}

TEST(Weights, ComeBackAsTheyWereSaved) {
  const Folder folder;
  const std::string file = folder.file("weights.safetensors");
  torch::nn::Sequential saved = small_network(4);
  saved->forward(torch::randn({8, 3}));  // moves the running statistics
  save_weights(file, *saved);

  torch::nn::Sequential loaded = small_network(4);
  loaded[0]->as<torch::nn::Linear>()->weight.data().zero_();
  load_weights(file, *loaded);
  for (const auto& parameter : saved->named_parameters())
    EXPECT_TRUE(torch::equal(parameter.value(), loaded->named_parameters()[parameter.key()]));
  for (const auto& buffer : saved->named_buffers())
    EXPECT_TRUE(torch::equal(buffer.value(), loaded->named_buffers()[buffer.key()]))
        << buffer.key();
}

TEST(Weights, AreConvertedToTheTypeOfTheModel) {
  const Folder folder;
  const std::string file = folder.file("weights.safetensors");
  torch::nn::Linear half(3, 4);
  half->to(torch::kBFloat16);
  save_weights(file, *half);
  torch::nn::Linear loaded(3, 4);
  load_weights(file, *loaded);
  EXPECT_EQ(loaded->weight.scalar_type(), torch::kFloat32);
  EXPECT_TRUE(torch::equal(loaded->weight, half->weight.to(torch::kFloat32)));
}

TEST(Weights, ReplaceThoseOfAnEarlierRunOnlyAsAWhole) {
  const Folder folder;
  const std::string file = folder.file("weights.safetensors");
  std::ofstream(file) << "of an earlier run";
  std::filesystem::create_directory(file + ".part");  // as if the disk were full
  EXPECT_THROW(save_weights(file, *torch::nn::Linear(3, 4)), UsageError);
  EXPECT_EQ(read_text(file), "of an earlier run");

  std::filesystem::remove(file + ".part");
  save_weights(file, *torch::nn::Linear(3, 4));
  torch::nn::Linear loaded(3, 4);
  EXPECT_NO_THROW(load_weights(file, *loaded));
  EXPECT_FALSE(std::filesystem::exists(file + ".part"));
}

TEST(Weights, FollowALink) {
  const Folder folder;
  std::ofstream(folder.file("weights")) << "of an earlier run";
  std::filesystem::create_symlink("weights", folder.file("link"));
  save_weights(folder.file("link"), *torch::nn::Linear(3, 4));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  torch::nn::Linear loaded(3, 4);
  EXPECT_NO_THROW(load_weights(folder.file("weights"), *loaded));
}

std::string message_of_loading(const std::string& file, torch::nn::Module& module) {
  try {
    load_weights(file, module);
  } catch (const HintedError& error) {
    return error.what();
  }
  return "";
}

TEST(Weights, OfAnotherModelAreRefusedByName) {
  const Folder folder;
  const std::string file = folder.file("weights.safetensors");
  save_weights(file, *torch::nn::Linear(3, 4));
  torch::nn::Linear wider(3, 5);
  EXPECT_THAT(message_of_loading(file, *wider),
              HasSubstr("tensor 'bias' has the shape (4), the model's has (5)"));
  torch::nn::Sequential other(torch::nn::Linear(3, 4));
  EXPECT_THAT(message_of_loading(file, *other),
              HasSubstr("weights of another model: it has no 0.bias, 0.weight; this model has no "
                        "bias, weight"));
}

// The header of the files. Golden bytes: from the description of the format.

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
