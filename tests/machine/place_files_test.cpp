#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <chrono>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/file_operation.hpp>

namespace bench::machine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PlaceFilesTest : public testing::Test {
 protected:
  PlaceFilesTest() {
    fs::create_directories(home_ / "in");
    fs::create_directories(work_);
  }

  void write(const std::string& file, const std::string& text) const {
    write_file_atomically(home_ / file, text);
  }
  void copy(const std::string& path) { place(PlaceFiles::Action::copy, path); }
  void place(PlaceFiles::Action action, const std::string& path) {
    perform(PlaceFiles{.action = action,
                       .run = run_,
                       .base = home_,
                       .source_dir = "",
                       .paths = {path},
                       .names = {},
                       .target_dir = "",
                       .work = work_,
                       .place = {"in.yaml", 4, 2}},
            current_environment(), evaluator_);
  }
  std::string placed(const std::string& file) const { return read_file(work_ / file); }

  support::TempDirectory directory_;
  fs::path home_ = directory_.path() / "home";
  fs::path run_ = directory_.path() / "runs/000000";
  fs::path work_ = run_ / "000000_s/work";
  evaluate::Evaluator evaluator_;
};

/// Commands that write into their copy must not write into the source.
TEST_F(PlaceFilesTest, ALinkThatIsNamedIsCopiedAsWhatItLeadsTo) {
  write("in/base", "x");
  fs::create_symlink("in/base", home_ / "current");
  fs::create_symlink("in", home_ / "data");
  copy("current");
  copy("data");
  EXPECT_FALSE(fs::is_symlink(work_ / "current"));
  EXPECT_EQ(placed("current"), "x");
  EXPECT_FALSE(fs::is_symlink(work_ / "data"));
  EXPECT_EQ(placed("data/base"), "x");
}

TEST_F(PlaceFilesTest, LinksInADirectoryStayLinks) {
  write("in/base", "x");
  fs::create_symlink("base", home_ / "in/other");
  copy("in");
  EXPECT_EQ(fs::read_symlink(work_ / "in/other"), "base");
}

TEST_F(PlaceFilesTest, ALinkToNothingIsAnErrorAtItsPlace) {
  fs::create_symlink("nowhere", home_ / "lost");
  EXPECT_EQ(support::error_of([&] { copy("lost"); }),
            "in.yaml:4:2: error: cannot copy " + (home_ / "lost").string() +
                ": it is a link to a file that does not exist");
}

TEST_F(PlaceFilesTest, KeepsModesAndTimesOfADirectoryThatIsReadOnly) {
  write("in/base", "x");
  fs::permissions(home_ / "in/base", fs::perms::owner_read);
  fs::permissions(home_ / "in", fs::perms::owner_read | fs::perms::owner_exec);
  const auto long_ago = fs::last_write_time(home_) - std::chrono::hours(100);
  fs::last_write_time(home_ / "in", long_ago);
  copy("in");
  EXPECT_EQ(placed("in/base"), "x");
  EXPECT_EQ(fs::status(work_ / "in/base").permissions(), fs::perms::owner_read);
  EXPECT_EQ(fs::status(work_ / "in").permissions(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(fs::last_write_time(work_ / "in"), long_ago);
}

TEST_F(PlaceFilesTest, ReplacesWhatAKilledBenchHasLeftOfACopy) {
  write("in/base", "x");
  fs::create_directories(work_ / "in.copying/deep");
  fs::permissions(work_ / "in.copying/deep", fs::perms::owner_read | fs::perms::owner_exec);
  copy("in");
  EXPECT_EQ(placed("in/base"), "x");
  EXPECT_FALSE(fs::exists(work_ / "in.copying"));
}

TEST_F(PlaceFilesTest, ACopyThatWouldContainItselfIsAnError) {
  home_ = directory_.path();
  for (const char* path : {"runs", "*"}) {
    EXPECT_THAT(support::error_of([&] { copy(path); }),
                HasSubstr("the copy would contain itself\nhint: the outpath is in that directory"));
    EXPECT_FALSE(fs::exists(work_ / "runs.copying"));
  }
}

TEST_F(PlaceFilesTest, TheNameOfTheDirectoryOfTheInputIsNoPattern) {
  const fs::path other = directory_.path() / "run1";
  home_ = directory_.path() / "run[12]";
  for (const fs::path& directory : {other, home_}) {
    fs::create_directory(directory);
    write_file_atomically(directory / "in.txt", directory.filename().string());
    write_file_atomically(directory / "b.cfg", directory.filename().string());
  }
  copy("in.txt");
  copy("*.cfg");
  EXPECT_EQ(placed("in.txt"), "run[12]");
  EXPECT_EQ(placed("b.cfg"), "run[12]");
}

}  // namespace
}  // namespace bench::machine
