#include "pages/run_files.hpp"

#include "support/temp_directory.hpp"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>

namespace bench::pages {
namespace {

namespace fs = std::filesystem;

class FilesTest : public testing::Test {
 protected:
  FilesTest() {
    make_directories(run_ / "000000_s/work");
    write_file_atomically(run_ / "000000_s/work/stdout", "one\ntwo\nthree\n");
    write_file_atomically(here_.path() / "secret", "secret\n");
    fs::create_symlink(here_.path() / "secret", run_ / "000000_s/link");
    fs::create_directory_symlink(here_.path(), run_ / "out");
    fs::create_symlink("work/stdout", run_ / "000000_s/stdout");
  }

  bool opens(const std::string& path) const { return open_in_run(run_, path).valid(); }

  support::TempDirectory here_;
  fs::path run_ = here_.path() / "runs/000000";
};

TEST_F(FilesTest, OpensWhatLiesInTheRun) {
  EXPECT_TRUE(opens("000000_s/work/stdout"));
  EXPECT_TRUE(opens("000000_s/stdout"));
}

TEST_F(FilesTest, OpensNothingElse) {
  const std::string outside = (here_.path() / "secret").string();
  for (const std::string& path :
       {std::string(), std::string("."), std::string(".."), outside, "/" + outside,
        std::string("../../secret"), std::string("000000_s/../../../secret"),
        std::string("000000_s/../000000_s/work/stdout"), std::string("./000000_s/work/stdout"),
        std::string("000000_s//work/stdout"), std::string("000000_s/link"),
        std::string("out/secret"), std::string("000000_s"), std::string("000000_s/work/"),
        std::string("000000_s/work/stdout\0/x", 22), std::string("absent")})
    EXPECT_FALSE(opens(path)) << path;
}

TEST_F(FilesTest, ATailBeginsWithALine) {
  const UniqueFd file = open_in_run(run_, "000000_s/work/stdout");
  const Tail whole = tail_of(file, 100);
  EXPECT_EQ(whole.text, "one\ntwo\nthree\n");
  EXPECT_TRUE(whole.is_whole);
  const Tail end = tail_of(file, 8);
  EXPECT_EQ(end.text, "three\n");
  EXPECT_EQ(end.bytes, 14U);
  EXPECT_FALSE(end.is_whole);
}

TEST_F(FilesTest, ListsRegularFilesWithoutFollowingLinks) {
  const FileList list = files_in_run(run_, "000000_s");
  ASSERT_EQ(list.files.size(), 1U);
  EXPECT_EQ(list.files[0].path, "000000_s/work/stdout");
  EXPECT_EQ(list.files[0].bytes, 14U);
  for (const char* directory : {"out", "..", "", "/", "absent"})
    EXPECT_TRUE(files_in_run(run_, directory).files.empty()) << directory;
}

TEST(SizeTextTest, HasTheUnitThatFits) {
  EXPECT_EQ(size_text(999), "999 bytes");
  EXPECT_EQ(size_text(4200), "4.2 kB");
  EXPECT_EQ(size_text(12'345'678), "12.3 MB");
}

}  // namespace
}  // namespace bench::pages
