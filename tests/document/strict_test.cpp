#include "support/source_directory.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

namespace fs = std::filesystem;

const fs::path bad_files = support::source_directory() / "tests/data/bad";

/// Everything that a user sees of one file: warnings, then the error.
std::string messages_of_file(const fs::path& file) {
  std::string text;
  Diagnostics diagnostics;
  std::string error_text;
  try {
    check_tags(read_document(file, {}, diagnostics), {});
  } catch (const Error& error) {
    error_text = render(error) + "\n";
  }
  for (const Warning& warning : diagnostics.warnings())
    text += render(Severity::warning, warning.message, warning.hint, warning.place) + "\n";
  return text + error_text;
}

std::vector<std::string> bad_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(bad_files))
    if (const fs::path& file = entry.path();
        file.extension() != ".expected" && file.stem().string().starts_with("document_"))
      names.push_back(file.filename().string());
  std::ranges::sort(names);
  return names;
}

class BadFileTest : public testing::TestWithParam<std::string> {};

TEST_P(BadFileTest, IsReportedAsExpected) {
  fs::current_path(bad_files);  // so that messages hold the bare file name
  EXPECT_EQ(messages_of_file(GetParam()),
            bench::read_file(fs::path(GetParam()).replace_extension(".expected")));
}

INSTANTIATE_TEST_SUITE_P(Files, BadFileTest, testing::ValuesIn(bad_names()),
                         [](const auto& file) { return fs::path(file.param).stem().string(); });

std::string error_of(const std::string& yaml) {
  Diagnostics diagnostics;
  try {
    read_yaml(yaml, "in.yaml", diagnostics);
  } catch (const Error& error) {
    return render(error);
  }
  return "";
}

TEST(Strict, RefusesAnAliasBombAtOnce) {
  std::string bomb = "x-0: &a0 [lol, lol]\n";
  for (int k = 1; k < 30; ++k) {
    const std::string before = "*a" + std::to_string(k - 1);
    bomb += "x-" + std::to_string(k) + ": &a" + std::to_string(k) + " [" + before;
    for (int copy = 1; copy < 10; ++copy)
      bomb += ", " + before;
    bomb += "]\n";
  }
  const std::clock_t begin = std::clock();
  EXPECT_EQ(error_of(bomb),
            "in.yaml:7:6: error: more than 1,000,000 values once the aliases are expanded");
  EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 10);
}

TEST(Strict, CountsLongTextsInABomb) {
  std::string bomb = "x-0: &a " + std::string(1'000'000, 'x') + "\nx-1: [*a";
  for (int k = 0; k < 1100; ++k)
    bomb += ", *a";
  EXPECT_EQ(error_of(bomb + "]\n"),
            "in.yaml:2:6: error: more than 1,000,000 values once the aliases are expanded");
}

TEST(Strict, CountsTheCopiesOfListsOfTexts) {
  std::string yaml = "step:\n  do:\n    _: [a";
  for (int k = 0; k < 2000; ++k)
    yaml += ", a";
  yaml += "]\n";
  for (int k = 0; k < 600; ++k)
    yaml += "    key" + std::to_string(k) + ": v\n";
  EXPECT_EQ(error_of(yaml),
            "in.yaml:3:5: error: more than 1,000,000 elements and attributes once the lists are "
            "expanded");
}

TEST(Strict, RefusesDeepNesting) {
  EXPECT_THAT(error_of("step: " + std::string(10'000, '[') + std::string(10'000, ']')),
              testing::HasSubstr("nested too deep"));
  std::string yaml = "x-0: &a0 [1]\n";
  for (int k = 1; k < 600; ++k)
    yaml += "x-" + std::to_string(k) + ": &a" + std::to_string(k) + " [*a" + std::to_string(k - 1) +
            "]\n";
  EXPECT_EQ(error_of(yaml), "in.yaml:499:8: error: nested more than 500 levels deep");
}

TEST(Strict, RefusesBytesThatAreNoText) {
  const std::string hint = "\nhint: input files are UTF-8 text";
  EXPECT_EQ(error_of("a: 1\nb: \x04\n"), "in.yaml:2:4: error: a control character (0x04)" + hint);
  EXPECT_EQ(error_of("a: \xFF\n"), "in.yaml:1:4: error: bytes that are not UTF-8" + hint);
  EXPECT_EQ(error_of(std::string("n\0a\0", 4)),
            "in.yaml:1:2: error: a control character (0x00)" + hint);
}

TEST(Strict, RefusesAFileWithoutContent) {
  for (const char* yaml : {"", "\n\n", "# only a comment\n", "---\n", "~\n"})
    EXPECT_EQ(error_of(yaml), "in.yaml: error: the file is empty") << yaml;
}

TEST(Strict, WarningsAreErrorsInStrictMode) {
  Diagnostics strict(true);
  EXPECT_THROW(read_yaml("name: b\noutpth: o\n", "in.yaml", strict), Error);
}

}  // namespace
}  // namespace bench::document
