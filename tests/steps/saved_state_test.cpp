#include "harness/saved_state.hpp"

#include "harness/program.hpp"
#include "step_programs/program_runner.hpp"

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
  EXPECT_THAT([&] { read.number("matrix"); }, message("state: 'matrix' is not a number"));
  EXPECT_THAT([&] { read.text("matrix"); }, message("state: 'matrix' is not text"));
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

// LibTorch writes checksums and does not compare them.
TEST(SavedState, IsNotReadWhereAByteHasChanged) {
  const Folder folder;
  SavedState saved;
  saved.set("matrix", torch::zeros({200, 200}));
  saved.write(folder.file("state"));
  const std::string whole = read_text(folder.file("state"));
  const std::string place = std::to_string(whole.size() - 12);
  for (const std::size_t at : {std::size_t{0}, whole.size() / 2, whole.size() - 1}) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    std::ofstream(folder.file("state"), std::ios::binary) << damaged;
    EXPECT_THAT([&] { SavedState::read(folder.file("state")); },
                ThrowsMessage<HintedError>(HasSubstr("state: byte " + place + ": wrong checksum")))
        << at;
  }
}

TEST(SavedState, IsNotReadWithoutItsChecksum) {
  const Folder folder;
  SavedState saved;
  saved.set("matrix", torch::zeros({2, 2}));
  const std::uint64_t bytes = saved.write(folder.file("state"));
  for (const std::uint64_t left : {bytes - 12, bytes - 1, std::uint64_t{5}, std::uint64_t{0}}) {
    std::filesystem::resize_file(folder.file("state"), left);
    EXPECT_THAT([&] { SavedState::read(folder.file("state")); },
                ThrowsMessage<HintedError>(HasSubstr("state: is no saved state, or not whole")));
  }
}

TEST(SavedState, IsAFileOfLibTorch) {
  const Folder folder;
  SavedState saved;
  saved.set("matrix", torch::full({2, 2}, 3.0F));
  saved.write(folder.file("state"));
  torch::serialize::InputArchive archive;
  archive.load_from(folder.file("state"));
  torch::Tensor matrix;
  archive.read("matrix", matrix, /*is_buffer=*/true);
  EXPECT_TRUE(torch::equal(matrix, torch::full({2, 2}, 3.0F)));
}

}  // namespace
}  // namespace bench::steps
