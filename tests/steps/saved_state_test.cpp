#include "harness/saved_state.hpp"

#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

/// A rank's part of a stack of two matrices (2, 3) and a bias (2), split among two ranks by rows.
RowLayout half(int part) {
  return {.parameters = {{"stack", {2, 3}, {.stacked = 2, .part = part, .parts = 2}, {0, 6}},
                         {"columns", {2, 2}, {.dimension = 1, .part = part, .parts = 2}, {8, 12}},
                         {"bias", {2}, {}, {12, 14}}},
          .numbers = 16,
          .share = {0, 16},
          .ranks = {part}};
}

RowLayout whole() {
  return {.parameters = {{"stack", {4, 3}, {.stacked = 2}, {0, 12}},
                         {"columns", {2, 4}, {.dimension = 1}, {12, 20}},
                         {"bias", {2}, {}, {20, 22}}},
          .numbers = 24,
          .share = {0, 24},
          .ranks = {0}};
}

SavedState saved(const RowLayout& layout, const std::vector<float>& row) {
  SavedState state;
  state.set(saved_weights, torch::tensor(row));
  state.set("moments", torch::tensor(row) * 10);
  state.set_number("steps", 7);
  state.set_text(saved_row_layout, layout.text());
  return state;
}

std::vector<float> row_of(const SavedState& state, const std::string& name) {
  const torch::Tensor& row = state.tensor(name);
  return {row.data_ptr<float>(), row.data_ptr<float>() + row.numel()};
}

const std::vector<float> whole_row{1, 2, 3, 4, 5,  6,  7,  8,  9,  10, 11, 12,
                                   0, 1, 2, 3, 10, 11, 12, 13, 50, 51, 0,  0};
// Rows 1 and 3 of the stack, columns 0 and 1.
const std::vector<float> first_half{1, 2, 3, 7, 8, 9, 0, 0, 0, 1, 10, 11, 50, 51, 0, 0};
const std::vector<float> second_half{4, 5, 6, 10, 11, 12, 0, 0, 2, 3, 12, 13, 50, 51, 0, 0};

TEST(RowLayout, IsReadAsItWasWritten) {
  EXPECT_EQ(RowLayout::parse(half(1).text()), half(1));
  EXPECT_THROW(RowLayout::parse("stack 0 6"), std::runtime_error);
}

TEST(RowLayout, OfOneRankBecomesThatOfTwo) {
  const auto read = [](int) { return saved(whole(), whole_row); };
  const SavedState first = rearranged(half(0), 1, read);
  EXPECT_EQ(row_of(first, saved_weights), first_half);
  EXPECT_EQ(row_of(rearranged(half(1), 1, read), saved_weights), second_half);
  EXPECT_EQ(row_of(first, "moments")[1], 20);
  EXPECT_EQ(first.number("steps"), 7);
}

TEST(RowLayout, OfTwoRanksBecomesTheSharesOfOneRow) {
  RowLayout share = whole();
  share.share = {12, 24};
  const SavedState state = rearranged(
      share, 2, [](int rank) { return saved(half(rank), rank == 0 ? first_half : second_half); });
  EXPECT_EQ(row_of(state, saved_weights),
            std::vector<float>(whole_row.begin() + 12, whole_row.end()));
}

TEST(RowLayout, OfSharesIsPutTogether) {
  const SavedState state = rearranged(half(1), 2, [](int rank) {
    RowLayout share = whole();
    share.ranks = {0, 1};
    const auto begin = whole_row.begin() + std::ptrdiff_t{12} * rank;
    return saved(share, {begin, begin + 12});
  });
  EXPECT_EQ(row_of(state, saved_weights), second_half);
}

TEST(RowLayout, NeedsAllOfAParameter) {
  try {
    rearranged(whole(), 1, [](int) { return saved(half(0), first_half); });
    FAIL();
  } catch (const HintedError& error) {
    EXPECT_STREQ(error.what(), "the checkpoint has 6 of 12 numbers of 'stack'");
  }
}

}  // namespace
}  // namespace bench::steps
