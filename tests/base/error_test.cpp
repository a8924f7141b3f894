#include "support/temp_directory.hpp"

#include <cerrno>
#include <cstddef>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>

namespace bench {
namespace {

struct CaretCase {
  std::string name;
  std::string line;
  int column;
  std::string expected;  ///< Below the first line.
};
void PrintTo(const CaretCase& c, std::ostream* out) {
  *out << c.name;
}

class CaretTest : public testing::TestWithParam<CaretCase> {};

TEST_P(CaretTest, StandsBelowTheColumn) {
  const support::TempDirectory directory;
  const std::string file = directory.write("in.yaml", "first\n" + GetParam().line).string();
  EXPECT_EQ(
      render(Error(Id::invalid_value, "wrong", "", {file, 2, GetParam().column})),
      file + ":2:" + std::to_string(GetParam().column) + ": error: wrong\n" + GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Lines, CaretTest,
    testing::Values(CaretCase{"First", "key: value\nlast\n", 1, "  key: value\n  ^"},
                    CaretCase{"Middle", "key: value\n", 6, "  key: value\n       ^"},
                    CaretCase{"WithoutNewline", "key: value", 6, "  key: value\n       ^"},
                    CaretCase{"CarriageReturn", "key: value\r\n", 6, "  key: value\n       ^"},
                    CaretCase{"TabsStayTabs", "\tkey:\tvalue\n", 7, "  \tkey:\tvalue\n  \t    \t^"},
                    CaretCase{"OneColumnPerCharacter", "größe: x\n", 10, "  größe: x\n         ^"},
                    CaretCase{"BehindTheLine", "key\n", 9, "  key\n     ^"},
                    CaretCase{"InvalidBytes", "a\xff: x\n", 5, "  a\uFFFD: x\n      ^"}),
    [](const auto& one) { return one.param.name; });

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
  try {
    diagnostics.warn(Id::no_effect, "odd", "hint", {"f", 1, 2});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(render(error), "f:1:2: error: odd\nhint: hint");
  }
}

}  // namespace
}  // namespace bench
