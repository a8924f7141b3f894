#include "data/staging.hpp"

#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "support/message_of.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

namespace fs = std::filesystem;
using support::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

void write(const std::string& file, const std::string& text) {
  fs::create_directories(fs::path(file).parent_path());
  std::ofstream(file) << text;
}

/// A data set of two files below `from/set`, and where its copies go.
class StageTest : public testing::Test {
 protected:
  StageTest() {
    write(source("train/a"), "12345");
    write(source("b"), "678");
  }

  std::string source(const std::string& name) const { return folder_.file("from/set/" + name); }

  Staged staged() const { return stage(source(""), files_, folder_.file("to/disk"), 2); }

  /// What lies there beside locks.
  std::vector<std::string> copies() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.file("to/disk")))
      if (entry.path().extension() != ".lock")
        names.push_back(entry.path().string());
    return names;
  }

  Folder folder_;
  FileList files_{.folders = {"train", "empty"}, .files = {"train/a", "b"}};
};

TEST_F(StageTest, CopiesFilesAndFolders) {
  const Staged copy = staged();
  EXPECT_EQ(copy.copied_bytes, 8U);
  EXPECT_THAT(copy.folder, StartsWith(folder_.file("to/disk/set-")));
  EXPECT_EQ(read_text(copy.folder + "/train/a"), "12345");
  EXPECT_EQ(read_text(copy.folder + "/b"), "678");
  EXPECT_TRUE(fs::is_directory(copy.folder + "/empty"));
  EXPECT_THAT(copies(), ElementsAre(copy.folder));
}

TEST_F(StageTest, UsesACompleteCopyAgain) {
  const Staged first = staged();
  write(first.folder + "/mark", "");
  const Staged second = staged();
  EXPECT_EQ(second.folder, first.folder);
  EXPECT_EQ(second.copied_bytes, 0U);
  EXPECT_TRUE(fs::exists(first.folder + "/mark"));
}

TEST_F(StageTest, TakesNoInterruptedCopyForComplete) {
  const Staged first = staged();
  fs::rename(first.folder, first.folder + ".partial");
  const Staged second = staged();
  EXPECT_EQ(second.copied_bytes, 8U);
  EXPECT_THAT(copies(), ElementsAre(second.folder));
}

TEST_F(StageTest, RepairsACopyThatLostSomething) {
  const Staged first = staged();
  for (const char* name : {"b", "train/a", "empty"}) {
    fs::remove(first.folder + "/" + name);
    EXPECT_EQ(staged().copied_bytes, 8U) << name;
  }
  fs::resize_file(first.folder + "/b", 1);
  EXPECT_EQ(staged().copied_bytes, 8U);
  EXPECT_EQ(read_text(first.folder + "/b"), "678");
}

TEST_F(StageTest, CopiesADataSetThatChanged) {
  const Staged first = staged();
  write(source("b"), "6789");
  const Staged second = staged();
  EXPECT_NE(second.folder, first.folder);
  EXPECT_EQ(read_text(second.folder + "/b"), "6789");
}

TEST_F(StageTest, CopiesOnceForProcessesSideBySide) {
  std::vector<std::uint64_t> copied(4);
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t& bytes : copied)
      threads.emplace_back([&] { bytes = staged().copied_bytes; });
  }
  EXPECT_THAT(copied, testing::UnorderedElementsAre(0, 0, 0, 8));
}

TEST_F(StageTest, SaysHowMuchSpaceIsLacking) {
  fs::resize_file(source("b"), std::uintmax_t{1} << 42);  // holds no blocks
  if (fs::space(folder_.file("")).available >= std::uintmax_t{1} << 42)
    GTEST_SKIP() << "4 TiB of free space";
  const std::string message = message_of<UsageError>([&] { staged(); });
  EXPECT_THAT(message, StartsWith(folder_.file("to/disk") + " has "));
  EXPECT_THAT(message, HasSubstr(" bytes left, and the data set has 4398046511109"));
  EXPECT_THAT(copies(), IsEmpty());
}

TEST_F(StageTest, LeavesNothingWhereACopyFails) {
  files_.files.emplace_back("b");  // which then is in its own way
  EXPECT_THAT(message_of<std::runtime_error>([&] { staged(); }),
              testing::AllOf(StartsWith("cannot copy " + source("b") + " to "),
                             testing::EndsWith(".partial/b: File exists")));
  EXPECT_THAT(copies(), IsEmpty());
}

TEST_F(StageTest, SaysThatTheTargetCannotBeUsed) {
  write(folder_.file("to"), "a file");
  EXPECT_EQ(message_of<UsageError>([&] { staged(); }),
            "cannot use " + folder_.file("to/disk") + ": Not a directory");
}

TEST_F(StageTest, SaysThatNothingCanBeMadeInTheTarget) {
  const std::string message =
      message_of<UsageError>([&] { stage(source(""), files_, "/proc", 1); });
  EXPECT_THAT(message, StartsWith("cannot make /proc/set-"));
  EXPECT_THAT(message, testing::EndsWith(".lock: No such file or directory"));
}

TEST_F(StageTest, CopiesFilesOfSeveralFolders) {
  const StagedFiles copies =
      stage_files({source("train/a"), source("b")}, folder_.file("to/disk"), 1);
  EXPECT_EQ(copies.copied_bytes, 8U);
  EXPECT_THAT(copies.files, ElementsAre(copies.folder + "/train/a", copies.folder + "/b"));
  EXPECT_EQ(read_text(copies.files[0]), "12345");
  EXPECT_EQ(read_text(copies.files[1]), "678");
}

TEST_F(StageTest, CopiesASingleFile) {
  const StagedFiles copies = stage_files({source("b")}, folder_.file("to/disk"), 1);
  EXPECT_THAT(copies.files, ElementsAre(copies.folder + "/b"));
  EXPECT_EQ(copies.copied_bytes, 3U);
}

}  // namespace
}  // namespace bench::steps
