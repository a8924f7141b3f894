#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <filesystem>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <bench/base/below.hpp>

namespace bench {
namespace {

namespace fs = std::filesystem;
using support::error_of;
using support::TempDirectory;

/// `run/file` and `outside/file`, and links of all kinds between them.
class BelowTest : public testing::Test {
 protected:
  BelowTest() {
    directory_.write("run/file", "x");
    directory_.write("run/deeper/file", "x");
    directory_.write("outside/file", "x");
    directory_.write("run_beside/file", "x");
    fs::create_symlink("file", run_ / "link_in");
    fs::create_symlink("../outside/file", run_ / "link_out");
    fs::create_symlink("../outside/absent", run_ / "link_to_nothing");
    fs::create_directory_symlink("deeper", run_ / "directory_in");
    fs::create_directory_symlink("../outside", run_ / "directory_out");
    fs::create_directory_symlink("../run_beside", run_ / "directory_beside");
    ::mkfifo((run_ / "pipe").c_str(), 0666);
    fs::create_symlink("pipe", run_ / "link_to_pipe");
  }

  bool refused(const fs::path& path) const {
    return error_of([&] { refuse_link_out(run_, path); }) != "(no error)";
  }

  TempDirectory directory_;
  fs::path run_ = directory_.path() / "run";
};

TEST_F(BelowTest, OpensRegularFilesThatReallyLieThere) {
  for (const char* name : {"file", "deeper/file", "link_in", "directory_in/file"})
    EXPECT_TRUE(open_below(run_, run_ / name).valid()) << name;
}

TEST_F(BelowTest, OpensNothingElseAndDoesNotWait) {
  for (const char* name :
       {"absent", "", "deeper", "link_out", "link_to_nothing", "directory_out/file",
        "directory_beside/file", "../outside/file", "pipe", "link_to_pipe"})
    EXPECT_FALSE(open_below(run_, run_ / name).valid()) << name;
  EXPECT_FALSE(open_below("/dev", "/dev/zero").valid());
}

TEST_F(BelowTest, TheDirectoryItselfMayBeReachedThroughALink) {
  fs::create_directory_symlink("run", directory_.path() / "again");
  EXPECT_TRUE(open_below(directory_.path() / "again", run_ / "file").valid());
  EXPECT_TRUE(open_below(run_, directory_.path() / "again/file").valid());
  refuse_link_out(directory_.path() / "again", directory_.path() / "again/new");
}

TEST_F(BelowTest, NothingIsWrittenThroughALinkOut) {
  for (const char* name : {"link_out", "link_to_nothing", "directory_out", "directory_out/new",
                           "directory_beside/new", "deeper/../directory_out/new"})
    EXPECT_TRUE(refused(run_ / name)) << name;
  EXPECT_EQ(error_of([&] { refuse_link_out(run_, run_ / "link_out"); }),
            "error: " + (run_ / "link_out").string() + " leads out of " + run_.string() +
                " through a link\nhint: bench writes and deletes through no link that leads out "
                "of a run directory");
}

TEST_F(BelowTest, WhatStaysInsideOrIsWrittenAsOutsideMayBeWritten) {
  for (const char* name : {"file", "new", "new/deeper/still", "link_in", "directory_in/new",
                           "../outside/new", "deeper/../new"})
    EXPECT_FALSE(refused(run_ / name)) << name;
}

TEST_F(BelowTest, AnEndlessLinkIsRefused) {
  fs::create_symlink("loop", run_ / "loop");
  EXPECT_TRUE(refused(run_ / "loop"));
  EXPECT_TRUE(refused(run_ / "loop/new"));
}

TEST_F(BelowTest, WhatIsWrittenStaysInTheRun) {
  for (const char* name : {"new", "deeper/new", "directory_in/new", "file"})
    EXPECT_TRUE(open_to_write(run_, run_ / name, O_APPEND).valid()) << name;
  EXPECT_TRUE(fs::exists(run_ / "deeper/new"));
}

TEST_F(BelowTest, NothingIsWrittenThroughALinkOrIntoAPipe) {
  const auto error = [&](const char* name) {
    return error_of([&] { open_to_write(run_, run_ / name, O_APPEND); });
  };
  for (const char* name : {"directory_out/new", "directory_beside/new"})
    EXPECT_THAT(error(name), testing::HasSubstr(" through a link")) << name;
  for (const char* name : {"link_in", "link_out", "link_to_nothing", "link_to_pipe"})
    EXPECT_THAT(error(name), testing::HasSubstr(": it is a link")) << name;
  EXPECT_THAT(error("pipe"), testing::HasSubstr(": it is not a regular file"));
  for (const char* name : {"new", "absent"})
    EXPECT_FALSE(fs::exists(directory_.path() / "outside" / name));
  EXPECT_FALSE(fs::exists(directory_.path() / "run_beside/new"));
}

TEST_F(BelowTest, WhatIsWrittenOutsideIsTheUsersOwnWord) {
  const UniqueFd fd = open_to_write(run_, "/dev/null", O_APPEND);
  EXPECT_TRUE(fd.valid());
  EXPECT_EQ(::fcntl(fd.get(), F_GETFL) & O_NONBLOCK, 0);
}

}  // namespace
}  // namespace bench
