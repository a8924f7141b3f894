#include "harness/weights.hpp"

#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::steps {
namespace {

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

}  // namespace
}  // namespace bench::steps
