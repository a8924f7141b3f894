#include <gtest/gtest.h>

#include <bench/base/markdown.hpp>

namespace bench {
namespace {

TEST(MarkdownText, IsShownAsItIs) {
  const struct {
    const char* name;
    const char* text;
    const char* markdown;
  } cases[] = {{"words", "batch_size=8, a__b, (x) #1", "batch_size=8, a__b, (x) #1"},
               {"bold", "__main__", R"(\_\_main\_\_)"},
               {"emphasis", "_x_ y_ 1_%", R"(\_x\_ y\_ 1\_%)"},
               {"only underscores", "___", R"(\_\_\_)"},
               {"letters beyond ASCII", "größe_ä", R"(größe\_ä)"},
               {"struck out", "~~x~~ ~y~", R"(\~\~x\~\~ \~y\~)"},
               {"link", "[l](http://x)", R"(\[l](http://x))"},
               {"image", "![l](http://x)", R"(!\[l](http://x))"},
               {"link by label", "[l][m]", R"(\[l][m])"},
               {"brackets", "time[s] [1, 2]", "time[s] [1, 2]"},
               {"table", "a|b\\c", R"(a\|b\\c)"},
               {"code", "`x` *y*", R"(\`x\` \*y\*)"},
               {"HTML", "<b> &lt;", R"(&lt;b> \&lt;)"},
               {"lines", "a\nb", "a<br>b"},
               {"nothing", "", ""}};
  for (const auto& [name, text, markdown] : cases)
    EXPECT_EQ(markdown_text(text), markdown) << name;
}

}  // namespace
}  // namespace bench
