#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <cerrno>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>

namespace bench {
namespace {

TEST(Render, SetsTheCaretBelowTheColumn) {
  const support::TempDirectory directory;
  const struct {
    const char* name;
    std::string line;
    int column;
    std::string expected;  ///< Below the first line.
  } cases[] = {{"first", "key: value\nlast\n", 1, "  key: value\n  ^"},
               {"middle", "key: value\n", 6, "  key: value\n       ^"},
               {"without newline", "key: value", 6, "  key: value\n       ^"},
               {"carriage return", "key: value\r\n", 6, "  key: value\n       ^"},
               {"tabs stay tabs", "\tkey:\tvalue\n", 7, "  \tkey:\tvalue\n  \t    \t^"},
               {"one column per character", "größe: x\n", 10, "  größe: x\n         ^"},
               {"behind the line", "key\n", 9, "  key\n     ^"},
               {"invalid bytes", "a\xff: x\n", 5, "  a\uFFFD: x\n      ^"}};
  for (const auto& [name, line, column, expected] : cases) {
    const std::string file = directory.write("in.yaml", "first\n" + line).string();
    EXPECT_EQ(render(Error(Id::invalid_value, "wrong", "", {file, 2, column})),
              file + ":2:" + std::to_string(column) + ": error: wrong\n" + expected)
        << name;
  }
}

TEST(Render, LeavesTheCaretOutWithoutAColumn) {
  const support::TempDirectory directory;
  const std::string file = directory.write("in.yaml", "key: value\n").string();
  EXPECT_EQ(render(Error(Id::invalid_value, "wrong", "", {file, 1, 0})),
            file + ":1: error: wrong\n  key: value");
}

TEST(Render, LeavesTheLineOutWhereTheFileIsMissingOrShorter) {
  const support::TempDirectory directory;
  const std::string file = directory.write("in.yaml", "key: value\n").string();
  EXPECT_EQ(render(Error(Id::invalid_value, "wrong", "", {"/no/such.yaml", 1, 2})),
            "/no/such.yaml:1:2: error: wrong");
  EXPECT_EQ(render(Error(Id::invalid_value, "wrong", "", {file, 2, 1})),
            file + ":2:1: error: wrong");
}

TEST(Render, PutsTheHintLast) {
  EXPECT_EQ(render(Error(Id::invalid_value, "wrong", "write it right")),
            "error: wrong\nhint: write it right");
  EXPECT_EQ(render(Error(Id::invalid_value, "wrong", "h", {"f.yaml", 3, 0})),
            "f.yaml:3: error: wrong\nhint: h");
}

TEST(Render, NamesAFileWithoutALine) {
  EXPECT_EQ(render(Error(Id::invalid_value, "wrong", "", {"f.yaml", 0, 0})),
            "f.yaml: error: wrong");
}

TEST(Render, SaysHowSeriousItIs) {
  EXPECT_EQ(render(Severity::warning, "odd", "", {}), "warning: odd");
  EXPECT_EQ(render(Severity::note, "so", "", {}), "note: so");
}

TEST(Ids, HaveTheirOwnNamesInTheOrderOfTheEnumeration) {
  std::set<std::string_view> names;
  for (std::size_t k = 0; k < ids().size(); ++k) {
    EXPECT_EQ(ids()[k].id, static_cast<Id>(k)) << ids()[k].name;
    EXPECT_TRUE(names.insert(ids()[k].name).second) << ids()[k].name;
  }
  EXPECT_EQ(ids().back().id, Id::device_failed) << "the last of them";
}

TEST(SystemError, OfAnAbsentFileIsAMissingFile) {
  EXPECT_EQ(Error::of_system("cannot read f", ENOENT).id(), Id::missing_file);
  EXPECT_EQ(Error::of_system("cannot read f", EACCES).id(), Id::system_error);
}

TEST(Diagnostics, KeepsEqualWarningsOnce) {
  Diagnostics diagnostics;
  diagnostics.warn(Id::no_effect, "odd", "hint", {"f", 1, 1});
  diagnostics.warn(Id::no_effect, "odd", "hint", {"f", 1, 1});
  diagnostics.warn(Id::no_effect, "odd", "hint", {"f", 2, 1});
  EXPECT_EQ(diagnostics.warnings(),
            (std::vector<Warning>{{Id::no_effect, "odd", "hint", {"f", 1, 1}},
                                  {Id::no_effect, "odd", "hint", {"f", 2, 1}}}));
}

TEST(Diagnostics, TellsEachWarningOnceAsItComes) {
  std::vector<std::string> told;
  Diagnostics diagnostics(false, [&](const Warning& warning) { told.push_back(warning.message); });
  diagnostics.warn(Id::no_effect, "first", "", {});
  EXPECT_EQ(told, std::vector<std::string>{"first"});
  diagnostics.warn(Id::no_effect, "first", "", {});
  diagnostics.warn(Id::no_effect, "second", "", {});
  EXPECT_EQ(told, (std::vector<std::string>{"first", "second"}));
}

TEST(Diagnostics, ThrowsTheFirstWarningWhenStrict) {
  Diagnostics diagnostics(true);
  EXPECT_EQ(support::error_of([&] {
              diagnostics.warn(Id::no_effect, "odd", "hint", {"f", 1, 2});
            }),
            "f:1:2: error: odd\nhint: hint");
}

TEST(Failures, KeepEachErrorOnce) {
  Failures failures;
  failures.attempt([] {});
  EXPECT_TRUE(failures.empty());
  for (const char* message : {"b", "a", "b"})
    attempt(&failures, [&] { throw Error(Id::invalid_value, message); });
  failures.attempt([] { throw Error(Id::invalid_value, "b", "", {"file", 1, 1}); });
  std::vector<std::string> messages;
  for (const Error& error : failures.errors())
    messages.push_back(error.message());
  EXPECT_THAT(messages, testing::ElementsAre("b", "a", "b"));
}

TEST(Failures, AreThrownWhereNobodyKeepsThem) {
  EXPECT_THROW(attempt(nullptr, [] { throw Error(Id::invalid_value, "a"); }), Error);
}

}  // namespace
}  // namespace bench
