#include "support/case_name.hpp"

#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <bench/base/markdown.hpp>

namespace bench {
namespace {

struct MarkdownCase {
  std::string name;
  std::string text;
  std::string markdown;
};
void PrintTo(const MarkdownCase& one, std::ostream* out) {
  *out << one.name;
}

class MarkdownText : public testing::TestWithParam<MarkdownCase> {};

TEST_P(MarkdownText, IsShownAsItIs) {
  EXPECT_EQ(markdown_text(GetParam().text), GetParam().markdown);
}

INSTANTIATE_TEST_SUITE_P(
    Base, MarkdownText,
    testing::Values(MarkdownCase{"Words", "batch_size=8, a__b, (x) #1",
                                 "batch_size=8, a__b, (x) #1"},
                    MarkdownCase{"Bold", "__main__", R"(\_\_main\_\_)"},
                    MarkdownCase{"Emphasis", "_x_ y_ 1_%", R"(\_x\_ y\_ 1\_%)"},
                    MarkdownCase{"OnlyUnderscores", "___", R"(\_\_\_)"},
                    MarkdownCase{"LettersBeyondAscii", "größe_ä", R"(größe\_ä)"},
                    MarkdownCase{"StruckOut", "~~x~~ ~y~", R"(\~\~x\~\~ \~y\~)"},
                    MarkdownCase{"Link", "[l](http://x)", R"(\[l](http://x))"},
                    MarkdownCase{"Image", "![l](http://x)", R"(!\[l](http://x))"},
                    MarkdownCase{"LinkByLabel", "[l][m]", R"(\[l][m])"},
                    MarkdownCase{"Brackets", "time[s] [1, 2]", "time[s] [1, 2]"},
                    MarkdownCase{"Table", "a|b\\c", R"(a\|b\\c)"},
                    MarkdownCase{"Code", "`x` *y*", R"(\`x\` \*y\*)"},
                    MarkdownCase{"Html", "<b> &lt;", R"(&lt;b> \&lt;)"},
                    MarkdownCase{"Lines", "a\nb", "a<br>b"}, MarkdownCase{"Nothing", "", ""}),
    support::case_name);

}  // namespace
}  // namespace bench
