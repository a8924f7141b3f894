#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/platform/job_template.hpp>

namespace bench::platform {
namespace {

using support::error_of;

struct Case {
  std::string name;
  std::string text;
  std::string expected;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class FillTest : public testing::TestWithParam<Case> {};

TEST_P(FillTest, GivesTheScriptOrAnErrorWithItsPlace) {
  const TemplateVariables variables{{"nodes", "4"},  {"tasks", "3"},
                                    {"empty", ""},   {"lines", "one\ntwo"},
                                    {"word", "yes"}, {"braces", "{{nodes}} $x"}};
  std::string filled;
  const std::string said = error_of([&] { filled = fill(GetParam().text, "t.job", variables); });
  EXPECT_EQ(said == "(no error)" ? filled : said, GetParam().expected);
}

const auto case_name = [](const auto& one) { return one.param.name; };

INSTANTIATE_TEST_SUITE_P(
    Filled, FillTest,
    testing::Values(Case{"Empty", "", ""}, Case{"WithoutHoles", "a {b} }} c\n", "a {b} }} c\n"},
                    Case{"Variable", "--nodes={{nodes}}\n", "--nodes=4\n"},
                    Case{"Blanks", "{{ nodes }}", "4"},
                    Case{"Several", "{{nodes}}x{{nodes}}\n", "4x4\n"},
                    Case{"OptionalWithValue", "a\n-n {{nodes?}}\nb\n", "a\n-n 4\nb\n"},
                    Case{"OptionalWithoutValue", "a\n-n {{empty?}}\nb\n", "a\nb\n"},
                    Case{"OneEmptyOptionalIsEnough", "{{nodes}} {{empty?}}\nb\n", "b\n"},
                    Case{"LastLine", "a\n{{empty?}}", "a\n"},
                    Case{"WithoutNewlineAtTheEnd", "{{nodes}}\nb", "4\nb"},
                    Case{"LinesInAShellLine", "{{lines}}\n", "one\ntwo\n"},
                    Case{"Prefix", "a{{:n=|nodes?}}{{:e=|empty?}}\n", "a:n=4\n"},
                    Case{"PrefixAlone", "a{{:x|word!}}{{:y|empty!}}\n", "a:x\n"},
                    Case{"Product", "{{nodes*tasks}} {{nodes * empty}} {{tasks*nodes*tasks}}\n",
                         "12 4 36\n"},
                    Case{"EmptyProduct", "a {{empty*empty?}}\n{{:n=|empty*empty?}}b\n", "b\n"},
                    Case{"ValuesAreNotFilled", "{{braces}}\n", "{{nodes}} $x\n"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Errors, FillTest,
    testing::Values(
        Case{"Unknown", "a\n--nodes={{node}}\n",
             "t.job:2:9: error: unknown template variable 'node'\nhint: did you mean 'nodes'?"},
        Case{"FarFromAll", "{{something}}\n",
             "t.job:1:1: error: unknown template variable 'something'\n"
             "hint: known: braces, empty, lines, nodes, tasks, word"},
        Case{"UnknownOptional", "{{something?}}\n",
             "t.job:1:1: error: unknown template variable 'something'\n"
             "hint: known: braces, empty, lines, nodes, tasks, word"},
        Case{"WithoutValue", "a {{empty}}\n",
             "t.job:1:3: error: template variable 'empty' has no value here\n"
             "hint: write {{empty?}} to drop the line if there is no value"},
        Case{"ProductOfUnknown", "{{nodes*task}}\n",
             "t.job:1:1: error: unknown template variable 'task'\nhint: did you mean 'tasks'?"},
        Case{"ProductOfWords", "a {{nodes*word}}\n",
             "t.job:1:3: error: 'yes' of the template variable 'word' is not an integer"},
        Case{"ProductWithoutValue", "{{empty*empty}}\n",
             "t.job:1:1: error: template variable 'empty*empty' has no value here\n"
             "hint: write {{empty*empty?}} to drop the line if there is no value"},
        Case{"PrefixWithoutValue", "{{n=|empty}}\n",
             "t.job:1:1: error: template variable 'empty' has no value here\n"
             "hint: write {{empty?}} to drop the line if there is no value"},
        Case{"WithoutEnd", "a {{nodes}\n",
             "t.job:1:3: error: this template variable has no end\nhint: write {{name}}"},
        Case{"EndInTheNextLine", "{{\nnodes}}\n",
             "t.job:1:1: error: this template variable has no end\nhint: write {{name}}"},
        Case{"NewlineInADirective", "#SBATCH --comment={{lines}}\n",
             "t.job:1:19: error: the value of 'lines' has a newline, which is not allowed in a "
             "directive"}),
    case_name);

TEST(ReadJobTemplate, PrefersAFileBesideTheBenchmark) {
  const support::TempDirectory data;
  const support::TempDirectory home;
  data.write("platforms/x.yaml", "");
  data.write("templates/a.job", "shipped a");
  data.write("templates/b.job", "shipped b");
  home.write("a.job", "own a");
  const support::EnvironmentVariable variable("BENCH_DATA", data.path().string());
  std::filesystem::path found;
  EXPECT_EQ(read_job_template("a.job", {home.path()}, found), "own a");
  EXPECT_EQ(found, home.path() / "a.job");
  EXPECT_EQ(read_job_template("b.job", {home.path()}, found), "shipped b");
  EXPECT_EQ(found, data.path() / "templates/b.job");
  const std::string error = error_of([&] { read_job_template("c.job", {home.path()}, found); });
  EXPECT_THAT(error, testing::StartsWith("error: unknown job template 'c.job'\nhint: looked in " +
                                         home.path().string() + ", "));
  EXPECT_THAT(error, testing::HasSubstr(", " + data.path().string() + "/templates, "));
}

}  // namespace
}  // namespace bench::platform
