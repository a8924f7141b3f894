#include "support/bad_files.hpp"
#include "support/error_of.hpp"

#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

/// The faults of one file: warnings, then the error.
std::vector<std::string> faults_in(const std::string& file) {
  Diagnostics diagnostics;
  const std::string error =
      support::fault_of([&] { check_tags(read_document(file, {}, diagnostics), {}); });
  std::vector<std::string> faults;
  for (const Warning& warning : diagnostics.warnings())
    faults.push_back(support::fault(warning));
  if (error != "(no error)")
    faults.push_back(error);
  return faults;
}

class BadFileTest : public testing::TestWithParam<std::string> {};

TEST_P(BadFileTest, IsReportedAsExpected) {
  std::filesystem::current_path(support::bad_files);  // so that places hold the bare file name
  EXPECT_EQ(faults_in(GetParam()), support::faults_of_bad(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Files, BadFileTest, testing::ValuesIn(support::bad_names("document_")),
                         [](const auto& file) {
                           return std::filesystem::path(file.param).stem().string();
                         });

std::string fault_in(const std::string& yaml) {
  Diagnostics diagnostics;
  return support::fault_of([&] { read_yaml(yaml, "in.yaml", diagnostics); });
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
  EXPECT_EQ(fault_in(bomb), "in.yaml:7:6: too-large");
  EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 10);
}

TEST(Strict, CountsLongTextsInABomb) {
  std::string bomb = "x-0: &a " + std::string(1'000'000, 'x') + "\nx-1: [*a";
  for (int k = 0; k < 1100; ++k)
    bomb += ", *a";
  EXPECT_EQ(fault_in(bomb + "]\n"), "in.yaml:2:6: too-large");
}

TEST(Strict, CountsTheCopiesOfListsOfTexts) {
  std::string yaml = "step:\n  do:\n    _: [a";
  for (int k = 0; k < 2000; ++k)
    yaml += ", a";
  yaml += "]\n";
  for (int k = 0; k < 600; ++k)
    yaml += "    key" + std::to_string(k) + ": v\n";
  EXPECT_EQ(fault_in(yaml), "in.yaml:3:5: too-large");
}

TEST(Strict, RefusesDeepNesting) {
  EXPECT_THAT(fault_in("step: " + std::string(10'000, '[') + std::string(10'000, ']')),
              testing::EndsWith(": too-large"));
  std::string yaml = "x-0: &a0 [1]\n";
  for (int k = 1; k < 600; ++k)
    yaml += "x-" + std::to_string(k) + ": &a" + std::to_string(k) + " [*a" + std::to_string(k - 1) +
            "]\n";
  EXPECT_EQ(fault_in(yaml), "in.yaml:499:8: too-large");
}

TEST(Strict, RefusesBytesThatAreNoText) {
  EXPECT_EQ(fault_in("a: 1\nb: \x04\n"), "in.yaml:2:4: syntax");
  EXPECT_EQ(fault_in("a: \xFF\n"), "in.yaml:1:4: syntax");
  EXPECT_EQ(fault_in(std::string("n\0a\0", 4)), "in.yaml:1:2: syntax");
}

TEST(Strict, RefusesAFileWithoutContent) {
  for (const char* yaml : {"", "\n\n", "# only a comment\n", "---\n", "~\n"})
    EXPECT_EQ(fault_in(yaml), "in.yaml: syntax") << yaml;
}

TEST(Strict, WarningsAreErrorsInStrictMode) {
  Diagnostics strict(true);
  EXPECT_THROW(read_yaml("name: b\noutpth: o\n", "in.yaml", strict), Error);
}

}  // namespace
}  // namespace bench::document
