#include "harness/saved_state.hpp"

#include "harness/program.hpp"
#include "steps/program_runner.hpp"

#include <filesystem>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(SavedState, ComesBackAsItWas) {
  const Folder folder;
  torch::manual_seed(3);
  const torch::Tensor matrix = torch::randn({3, 4}).to(torch::kBFloat16);
  SavedState saved;
  saved.set("matrix", matrix);
  saved.set_number("steps", 1e15 + 1);
  saved.set_text("setup", "layers=2 name=a b");
  const std::uint64_t bytes = saved.write(folder.file("state"));
  EXPECT_EQ(bytes, std::filesystem::file_size(folder.file("state")));

  const SavedState read = SavedState::read(folder.file("state"));
  EXPECT_TRUE(torch::equal(read.tensor("matrix"), matrix));
  EXPECT_EQ(read.number("steps"), 1e15 + 1);
  EXPECT_EQ(read.text("setup"), "layers=2 name=a b");
  torch::Tensor target = torch::zeros({3, 4});
  read.copy_to("matrix", target);
  EXPECT_TRUE(torch::equal(target, matrix.to(torch::kFloat)));
}

TEST(SavedState, TellsWhatIsNotThere) {
  const Folder folder;
  SavedState saved;
  saved.set("matrix", torch::zeros({2, 2}));
  saved.write(folder.file("state"));
  const SavedState read = SavedState::read(folder.file("state"));
  const auto message = [](const std::string& text) {
    return ThrowsMessage<std::runtime_error>(HasSubstr(text));
  };
  EXPECT_THAT([&] { read.tensor("vector"); }, message("state: holds no 'vector'"));
  EXPECT_THAT([&] { read.number("matrix"); }, message("state: 'matrix' is no number"));
  EXPECT_THAT([&] { read.text("matrix"); }, message("state: 'matrix' is no text"));
  EXPECT_THAT([&] { read.copy_to("matrix", torch::zeros({4})); },
              message("state: 'matrix' has another shape"));
}

TEST(SavedState, IsNotWrittenToAFullDisk) {
  SavedState saved;
  saved.set("matrix", torch::zeros({200, 200}));
  EXPECT_THAT([&] { saved.write("/dev/full"); },
              ThrowsMessage<std::runtime_error>(
                  HasSubstr("cannot write /dev/full: No space left on device")));
}

TEST(SavedState, ReadsOnlyWholeFiles) {
  const Folder folder;
  EXPECT_THROW(SavedState::read(folder.file("nothing")), UsageError);
  SavedState saved;
  saved.set("matrix", torch::zeros({200, 200}));
  saved.write(folder.file("state"));
  std::filesystem::resize_file(folder.file("state"), 1000);
  EXPECT_THAT([&] { SavedState::read(folder.file("state")); },
              ThrowsMessage<std::runtime_error>(HasSubstr("state: is no saved state, or not")));
}

}  // namespace
}  // namespace bench::steps
