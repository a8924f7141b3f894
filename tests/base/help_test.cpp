#include <string>

#include <gtest/gtest.h>

#include <bench/base/help.hpp>

namespace bench {
namespace {

TEST(Help, RowsAreWrappedBesideTheirOptions) {
  const Help help{
      .name = "",
      .description = "Does it",
      .usage = "it [OPTIONS]",
      .sections = {{.heading = "Options",
                    .rows = {{"--out DIR=here",
                              "Where to put all of the files that this makes, one below the other"},
                             {"--a-name-that-is-long KIND ...", "Of these"},
                             {"--quiet", ""}}},
                   {.heading = "Example", .rows = {}, .lines = "  it --quiet"},
                   {.heading = "", .rows = {}, .lines = "More is in its manual."}}};
  EXPECT_EQ(text_of(help), R"(Does it

Usage: it [OPTIONS]

Options:
  --out DIR=here            Where to put all of the files that this makes, one
                            below the other
  --a-name-that-is-long KIND ...
                            Of these
  --quiet

Example:
  it --quiet

More is in its manual.
)");
}

TEST(Help, WordsThatAreTooLongHaveALineOfTheirOwn) {
  EXPECT_EQ(wrapped("a  longer-than-that b c", 2, 8), "a\n  longer-than-that\n  b c");
  EXPECT_EQ(wrapped("\xC3\xA4\xC3\xB6 b", 0, 4), "\xC3\xA4\xC3\xB6 b");
  EXPECT_EQ(wrapped("ab c", 1, 4, 2), "ab\n c");
}

}  // namespace
}  // namespace bench
