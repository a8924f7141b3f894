#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <filesystem>
#include <iterator>
#include <optional>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <bench/base/files.hpp>
#include <bench/base/host.hpp>

namespace bench {
namespace {

namespace fs = std::filesystem;
using support::EnvironmentVariable;
using support::error_of;
using support::TempDirectory;

TEST(ReadFile, GivesEveryByte) {
  const TempDirectory directory;
  std::string bytes(200'000, 'x');
  bytes[7] = '\0';
  EXPECT_EQ(read_file(directory.write("f", bytes)), bytes);
}

TEST(ReadFile, SaysWhyItCannot) {
  EXPECT_EQ(error_of([] { read_file("/no/such"); }),
            "error: cannot read /no/such: No such file or directory");
  EXPECT_EQ(error_of([] { read_file("/"); }), "error: cannot read /: Is a directory");
}

TEST(ReadFile, NamesTheFileThatWasMeant) {
  const TempDirectory directory;
  for (const char* name : {"t.yaml", "train.yaml", "gpt.xml", "log.txt"})
    directory.write(name, "");
  fs::create_directory(directory.path() / "tests.yaml");
  const auto path = [&](const std::string& name) { return (directory.path() / name).string(); };
  const struct {
    const char* name;
    std::string asked;
    std::string meant;
  } cases[] = {
      {"another extension", "t.yml", "t.yaml"}, {"another format", "gpt.yaml", "gpt.xml"},
      {"no extension", "train", "train.yaml"},  {"a letter is wrong", "trian.yaml", "train.yaml"},
      {"another name", "bert.yaml", ""},        {"not an input file", "log.csv", ""},
      {"a directory", "test.yaml", ""}};
  for (const auto& [name, asked, meant] : cases) {
    const std::string hint = meant.empty() ? "" : "\nhint: did you mean '" + path(meant) + "'?";
    EXPECT_EQ(error_of([&, file = path(asked)] { read_file(file); }),
              "error: cannot read " + path(asked) + ": No such file or directory" + hint)
        << name;
  }
}

TEST(ReadFile, RefusesWhatIsNoRegularFile) {
  const TempDirectory directory;
  const fs::path pipe = directory.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0666), 0);
  for (const fs::path& file : {fs::path("/dev/zero"), pipe})
    EXPECT_EQ(error_of([&] { read_file(file); }),
              "error: cannot read " + file.string() +
                  ": it is not a regular file\n"
                  "hint: a pipe or a device cannot stand in for a file here");
}

TEST(ReadFile, RefusesAFileThatIsTooLarge) {
  const TempDirectory directory;
  const fs::path file = directory.write("f", "12345");
  EXPECT_EQ(read_limited(file, 5), "12345");
  EXPECT_EQ(error_of([&] { read_limited(file, 4); }),
            "error: cannot read " + file.string() +
                ": it has 5 bytes, more than 4\nhint: is it the file that was meant?");
}

TEST(EndOfFile, IsItsLastTwoLines) {
  const TempDirectory directory;
  const struct {
    const char* name;
    std::string content;
    std::string expected;
    bool whole;
  } cases[] = {{"empty", "", "", true},
               {"one line", "a\n", "a", true},
               {"exactly", "a\nb\n", "a\nb", true},
               {"without a newline", "a\nb\nc", "b\nc", false},
               {"empty lines", "a\n\n\n", "\n", false},
               {"no text", "\xff\n", "\uFFFD", true},
               {"huge", std::string(100'000, 'x'), std::string(8192, 'x'), false}};
  for (const auto& [name, content, expected, whole] : cases) {
    const FileEnd end = end_of_file(open_regular_file(directory.write("f", content)), 2);
    EXPECT_EQ(end.text, expected) << name;
    EXPECT_EQ(end.whole, whole) << name;
  }
}

TEST(EndOfFile, IsEmptyWhereThereIsNone) {
  EXPECT_EQ(end_of_file(open_regular_file("/no/such"), 2).text, "");
}

TEST(WriteFileAtomically, ReplacesTheContentAndLeavesNothingElse) {
  const TempDirectory directory;
  const fs::path file = directory.path() / "f";
  write_file_atomically(file, "a longer first content");
  write_file_atomically(file, "second");
  EXPECT_EQ(read_file(file), "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1);
}

TEST(WriteFileAtomically, LeavesAReaderOfTheOldFileItsContent) {
  const TempDirectory directory;
  const fs::path file = directory.write("f", "old");
  fs::create_hard_link(file, directory.path() / "reader");
  write_file_atomically(file, "new");
  EXPECT_EQ(read_file(directory.path() / "reader"), "old");
}

TEST(WriteFileAtomically, LeavesNothingBehindWhereItFails) {
  const TempDirectory directory;
  const fs::path target = directory.path() / "d";
  fs::create_directories(target / "not_empty");
  EXPECT_EQ(error_of([&] { write_file_atomically(target, "x"); }),
            "error: cannot write " + target.string() + ": Is a directory");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1);
}

TEST(WriteFileAtomically, SaysWhyItCannot) {
  EXPECT_EQ(error_of([] { write_file_atomically("/no/such/f", "x"); }),
            "error: cannot write /no/such/f: No such file or directory");
}

TEST(AppendToFile, MakesTheFileAndAddsToIt) {
  const TempDirectory directory;
  append_to_file(directory.path() / "f", "a\n");
  append_to_file(directory.path() / "f", "b\n");
  EXPECT_EQ(read_file(directory.path() / "f"), "a\nb\n");
}

TEST(MakeDirectories, MakesParentsAndTakesExistingOnes) {
  const TempDirectory directory;
  make_directories(directory.path() / "a/b/c");
  make_directories(directory.path() / "a/b/c");
  EXPECT_TRUE(fs::is_directory(directory.path() / "a/b/c"));
}

TEST(MakeDirectories, SaysWhyItCannot) {
  const TempDirectory directory;
  const fs::path below = directory.write("file", "") / "d";
  EXPECT_EQ(error_of([&] { make_directories(below); }),
            "error: cannot create directory " + below.string() + ": Not a directory");
}

TEST(DirectoryRemoval, LeavesNothingOfTheDirectory) {
  const TempDirectory directory;
  directory.write("d/e/f", "text");
  directory.write("other", "text");
  {
    const DirectoryRemoval removal(directory.path() / "d");
    EXPECT_TRUE(fs::exists(removal.path() / "e/f"));
  }
  EXPECT_FALSE(fs::exists(directory.path() / "d"));
  EXPECT_TRUE(fs::exists(directory.path() / "other"));
}

TEST(CheckFilesCanBeMade, TakesADirectoryThatIsThereOrCanBe) {
  const TempDirectory directory;
  check_files_can_be_made(directory.path());
  check_files_can_be_made(directory.path() / "a/b");
  EXPECT_FALSE(fs::exists(directory.path() / "a"));
  check_files_can_be_made("there/is/no/such");
}

TEST(CheckFilesCanBeMade, SaysWhyNot) {
  const TempDirectory directory;
  const fs::path file = directory.write("file", "");
  for (const fs::path& below : {file, file / "a/b"})
    EXPECT_EQ(error_of([&] { check_files_can_be_made(below); }),
              "error: cannot make files in " + below.string() + ": Not a directory");
}

TEST(FindProgram, TakesTheFirstExecutableFileOnPath) {
  const TempDirectory directory;
  fs::create_directories(directory.path() / "1/tool");  // a directory is not a program
  directory.write("2/tool", "");                        // not executable
  ::chmod(directory.write("3/tool", "").c_str(), 0755);
  ::chmod(directory.write("4/tool", "").c_str(), 0755);
  const std::string base = directory.path().string();
  const EnvironmentVariable path("PATH", base + "/1:" + base + "/2:" + base + "/3:" + base + "/4");
  EXPECT_EQ(find_program("tool"), directory.path() / "3/tool");
  EXPECT_EQ(find_program("no-such-tool"), "");
}

TEST(FindProgram, TakesAPathAsItIs) {
  EXPECT_EQ(find_program("./not/there"), "./not/there");
}

TEST(Expand, InsertsWhatTheEnvironmentHas) {
  const EnvironmentVariable home("HOME", "/home/me");
  const EnvironmentVariable a("BENCH_TEST_A", "$BENCH_TEST_A/x");
  const EnvironmentVariable unset("BENCH_TEST_UNSET", std::nullopt);
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {{"", ""},
               {"~", "/home/me"},
               {"~/runs", "/home/me/runs"},
               {"~you/runs", "~you/runs"},
               {"a/~", "a/~"},
               {"$BENCH_TEST_A", "$BENCH_TEST_A/x"},
               {"a/${BENCH_TEST_A}b", "a/$BENCH_TEST_A/xb"},
               {"$BENCH_TEST_A$HOME", "$BENCH_TEST_A/x/home/me"},
               {"$BENCH_TEST_UNSET/x", "$BENCH_TEST_UNSET/x"},
               {"${BENCH_TEST_UNSET}", "${BENCH_TEST_UNSET}"},
               {"${HOME", "${HOME"},
               {"${}", "${}"},
               {"cost $", "cost $"},
               {"$$", "$$"},
               {"$-x", "$-x"}};
  for (const auto& [text, expected] : cases)
    EXPECT_EQ(expand_user_and_environment(text), expected) << text;
}

TEST(Host, HasANameAndACpu) {
  EXPECT_NE(host_name(), "");
  EXPECT_GE(usable_cpus(), 1);
}

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
