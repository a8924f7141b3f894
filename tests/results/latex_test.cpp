#include <optional>

#include <gtest/gtest.h>

#include <bench/results/table.hpp>

namespace bench::results {
namespace {

TEST(Latex, IsATabularWithTheRulesOfBooktabs) {
  Table table;
  table.name = "t";
  table.headings = {{.title = "model_size", .unit = ""}, {.title = "rate", .unit = "1/s"}};
  table.rows = {{{.value = std::string("a&b 50%")}, {.value = 2.5, .format = ".2f"}},
                {{.value = std::string("c")}, {.value = std::nullopt, .absent_reason = "no file"}}};
  EXPECT_EQ(render(table, "latex"), R"(% t, needs \usepackage{booktabs}
\begin{tabular}{lr}
\toprule
model\_size & rate[1/s] \\
\midrule
a\&b 50\% & 2.50 \\
c & -- \\
\bottomrule
\end{tabular}
% n/a in rate: no file
)");
}

TEST(Latex, WritesWhatWouldBeCommandsAsText) {
  Table table;
  table.headings = {{.title = R"(\a{b}$^~#<>|)"}};
  EXPECT_EQ(render(table, "latex"), R"(% , needs \usepackage{booktabs}
\begin{tabular}{r}
\toprule
\textbackslash{}a\{b\}\$\textasciicircum{}\textasciitilde{}\#\textless{}\textgreater{}\textbar{} \\
\midrule
\bottomrule
\end{tabular}
)");
}

TEST(Latex, ACellIsNoOptionOfTheLineBefore) {
  Table table;
  table.headings = {{.title = "[s]"}, {.title = "mesh"}};
  for (const char* text : {"[16, 32]", "*x*", "a[0]", " [1]"})
    table.rows.push_back({{.value = std::string(text)}, {.value = std::string("m")}});
  EXPECT_EQ(render(table, "latex"), R"(% , needs \usepackage{booktabs}
\begin{tabular}{ll}
\toprule
{[}s] & mesh \\
\midrule
{[}16, 32] & m \\
{*}x* & m \\
a[0] & m \\
{[}1] & m \\
\bottomrule
\end{tabular}
)");
}

}  // namespace
}  // namespace bench::results
