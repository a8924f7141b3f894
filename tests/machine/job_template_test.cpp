#include "support/case_name.hpp"
#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/machine/job_template.hpp>

namespace bench::machine {
namespace {

using support::case_name;
using support::error_of;

struct FillCase {
  std::string name;
  std::string text;
  std::string expected;
};

class FillTest : public testing::TestWithParam<FillCase> {};

TEST_P(FillTest, GivesTheScriptOrAnErrorWithItsPlace) {
  const TemplateVariables variables{{"nodes", "4"},  {"tasks", "3"},
                                    {"empty", ""},   {"lines", "one\ntwo"},
                                    {"word", "yes"}, {"braces", "{{nodes}} $x"}};
  std::string filled;
  const std::string said = error_of([&] { filled = fill(GetParam().text, "t.job", variables); });
  EXPECT_EQ(said == "(no error)" ? filled : said, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Filled, FillTest,
    testing::Values(FillCase{"Empty", "", ""},
                    FillCase{"WithoutHoles", "a {b} }} c\n", "a {b} }} c\n"},
                    FillCase{"Variable", "--nodes={{nodes}}\n", "--nodes=4\n"},
                    FillCase{"Blanks", "{{ nodes }}", "4"},
                    FillCase{"Several", "{{nodes}}x{{nodes}}\n", "4x4\n"},
                    FillCase{"OptionalWithValue", "a\n-n {{nodes?}}\nb\n", "a\n-n 4\nb\n"},
                    FillCase{"OptionalWithoutValue", "a\n-n {{empty?}}\nb\n", "a\nb\n"},
                    FillCase{"OneEmptyOptionalIsEnough", "{{nodes}} {{empty?}}\nb\n", "b\n"},
                    FillCase{"LastLine", "a\n{{empty?}}", "a\n"},
                    FillCase{"WithoutNewlineAtTheEnd", "{{nodes}}\nb", "4\nb"},
                    FillCase{"LinesInAShellLine", "{{lines}}\n", "one\ntwo\n"},
                    FillCase{"Prefix", "a{{:n=|nodes?}}{{:e=|empty?}}\n", "a:n=4\n"},
                    FillCase{"PrefixAlone", "a{{:x|word!}}{{:y|empty!}}\n", "a:x\n"},
                    FillCase{"Product", "{{nodes*tasks}} {{nodes * empty}} {{tasks*nodes*tasks}}\n",
                             "12 4 36\n"},
                    FillCase{"EmptyProduct", "a {{empty*empty?}}\n{{:n=|empty*empty?}}b\n", "b\n"},
                    FillCase{"ValuesAreNotFilled", "{{braces}}\n", "{{nodes}} $x\n"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Errors, FillTest,
    testing::Values(
        FillCase{"Unknown", "a\n--nodes={{node}}\n",
                 "t.job:2:9: error: unknown template variable 'node'\nhint: did you mean 'nodes'?"},
        FillCase{"FarFromAll", "{{something}}\n",
                 "t.job:1:1: error: unknown template variable 'something'\n"
                 "hint: known: braces, empty, lines, nodes, tasks, word"},
        FillCase{"UnknownOptional", "{{something?}}\n",
                 "t.job:1:1: error: unknown template variable 'something'\n"
                 "hint: known: braces, empty, lines, nodes, tasks, word"},
        FillCase{"WithoutValue", "a {{empty}}\n",
                 "t.job:1:3: error: template variable 'empty' has no value here\n"
                 "hint: write {{empty?}} to drop the line if there is no value"},
        FillCase{"ProductOfUnknown", "{{nodes*task}}\n",
                 "t.job:1:1: error: unknown template variable 'task'\nhint: did you mean 'tasks'?"},
        FillCase{"ProductOfWords", "a {{nodes*word}}\n",
                 "t.job:1:3: error: 'yes' of the template variable 'word' is not an integer"},
        FillCase{"ProductWithoutValue", "{{empty*empty}}\n",
                 "t.job:1:1: error: template variable 'empty*empty' has no value here\n"
                 "hint: write {{empty*empty?}} to drop the line if there is no value"},
        FillCase{"PrefixWithoutValue", "{{n=|empty}}\n",
                 "t.job:1:1: error: template variable 'empty' has no value here\n"
                 "hint: write {{empty?}} to drop the line if there is no value"},
        FillCase{"WithoutEnd", "a {{nodes}\n",
                 "t.job:1:3: error: this template variable has no end\nhint: write {{name}}"},
        FillCase{"EndInTheNextLine", "{{\nnodes}}\n",
                 "t.job:1:1: error: this template variable has no end\nhint: write {{name}}"},
        FillCase{"NewlineInADirective", "#SBATCH --comment={{lines}}\n",
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
  const auto own = read_job_template("a.job", {home.path()});
  EXPECT_EQ(own.text, "own a");
  EXPECT_EQ(own.file, home.path() / "a.job");
  const auto shipped = read_job_template("b.job", {home.path()});
  EXPECT_EQ(shipped.text, "shipped b");
  EXPECT_EQ(shipped.file, data.path() / "templates/b.job");
  const std::string error = error_of([&] { read_job_template("c.job", {home.path()}); });
  EXPECT_THAT(error, testing::StartsWith("error: unknown job template 'c.job'\nhint: looked in " +
                                         home.path().string() + ", "));
  EXPECT_THAT(error, testing::HasSubstr(", " + data.path().string() + "/templates, "));
}

}  // namespace
}  // namespace bench::machine
