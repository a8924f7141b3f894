#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <filesystem>
#include <iterator>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <bench/base/below.hpp>
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

}  // namespace
}  // namespace bench
