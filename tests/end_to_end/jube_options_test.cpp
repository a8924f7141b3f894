#include "bench_program.hpp"

#include <gmock/gmock.h>

#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Options and words of JUBE's that scripts rely on.
class JubeOptionsTest : public testing::Test {
 protected:
  void SetUp() override { here_.write("small.yaml", small_sweep()); }
  Playground here_;
};

TEST_F(JubeOptionsTest, ErrorStopsAtTheFirstFailure) {
  const auto run = here_.run("bad.yaml", R"(name: bad
outpath: bad
parameterset: {name: p, parameter: {n: [1, 2, 3]}}
step: {name: s, use: p, procs: 1, max_async: 1, do: 'false'}
)",
                             {"--error"}, 1);
  EXPECT_THAT(run.standard_output, HasSubstr("|    s |   3 |    0 |      1 |     2 |"));
  const auto next = here_.bench({"continue", "bad", "--error"});
  EXPECT_EQ(next.status.code, 1);
  EXPECT_THAT(next.standard_output, HasSubstr("|    s |   3 |    0 |      2 |     1 |"));
}

TEST_F(JubeOptionsTest, LongOptionsMayBeAbbreviated) {
  const auto run =
      here_.bench({"run", "small.yaml", "--hide", "--res", "--out=there", "--comm", "c"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(run.standard_output, AllOf(HasSubstr("# c\n"), HasSubstr("squares:\n")));
  EXPECT_TRUE(here_.has("there/000000/workspace.db"));
  EXPECT_FALSE(here_.has("runs")) << "the option comes before the file";
  EXPECT_EQ(here_.bench({"result", "there", "--sty", "csv", "--rev"}).standard_output,
            here_.bench({"result", "there", "--style", "csv"}).standard_output);
}

TEST_F(JubeOptionsTest, GeneralOptionsMayBeAbbreviatedBeforeTheCommand) {
  EXPECT_EQ(here_.bench({"--deb", "run", "small.yaml"}).status.code, 0);
  EXPECT_FALSE(here_.has("runs"));
  EXPECT_THAT(here_.bench({"--verb", "run", "small.yaml"}).standard_error, HasSubstr("]:INFO: "));
  EXPECT_THAT(here_.bench({"--vers"}).standard_output, StartsWith("bench "));
}

TEST_F(JubeOptionsTest, WhatFollowsTwoDashesIsNoOption) {
  here_.write("--res", small_sweep());
  EXPECT_EQ(here_.bench({"run", "--", "--res"}).status.code, 0);
}

TEST_F(JubeOptionsTest, AnEmptyCommentTakesThePlaceOfTheFiles) {
  const auto run = here_.bench({"run", "small.yaml", "-m", ""});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(run.standard_output, Not(HasSubstr("three squares")));
  EXPECT_THAT(here_.bench({"info", "runs"}).standard_output, Not(HasSubstr("three squares")));
}

TEST_F(JubeOptionsTest, AWrongStyleIsWrongUsage) {
  here_.bench({"run", "small.yaml"});
  for (const char* command : {"result", "diff"}) {
    const auto refused = here_.bench({command, "runs", "-s", "prety"});
    EXPECT_EQ(refused.status.code, 2);
    EXPECT_EQ(refused.standard_error,
              "error: --style: unknown value 'prety'\nhint: did you mean 'pretty'?\n");
  }
}

TEST_F(JubeOptionsTest, AFileWhoseBenchmarksAreHiddenSaysSo) {
  here_.write("hidden.yaml",
              "benchmark:\n"
              "  - {name: a, outpath: runs, tag: one, step: {name: s, do: echo}}\n"
              "  - {name: b, outpath: runs, tag: two, step: {name: s, do: echo}}\n");
  for (const char* command : {"run", "check"}) {
    const auto none = here_.bench({command, "hidden.yaml"});
    EXPECT_EQ(none.status.code, 0);
    EXPECT_EQ(none.standard_error,
              "hidden.yaml: warning: nothing to run: tags hide every benchmark of this file\n"
              "hint: active tags: none; `bench tag hidden.yaml` lists the tags of the file\n");
  }
  EXPECT_THAT(here_.bench({"run", "hidden.yaml", "-t", "one", "--not-bench", "a"}).standard_error,
              HasSubstr("nothing to run: every benchmark of this file is excluded\n"));
  EXPECT_EQ(here_.bench({"run", "hidden.yaml", "--strict"}).status.code, 1);
  EXPECT_FALSE(here_.has("runs"));
}

/// The example that a topic of `bench help` begins with; a blank line ends it.
std::string example_of(const Playground& here, const std::string& topic) {
  const std::string help = here.bench({"help", topic}).standard_output;
  std::string example;
  for (const std::string& line : split(help.substr(help.find("\n\n") + 2), "\n")) {
    if (strip(line).empty())
      break;
    example += line.substr(2) + "\n";
  }
  return example;
}

TEST_F(JubeOptionsTest, TheGeneralStructuresInTheHelpAreRealFiles) {
  for (const std::string notation : {"yaml", "xml"}) {
    const std::string name = "stream." + notation;
    here_.write(name, example_of(here_, "general_structure_" + notation));
    const auto run = here_.bench({"run", name, "--strict", "--result"});
    EXPECT_EQ(run.status.code, 0) << run.standard_error;
    EXPECT_THAT(run.standard_error, IsEmpty());
    EXPECT_THAT(run.standard_output, AllOf(HasSubstr("bandwidth:\n"), HasSubstr("400")));
  }
}

TEST_F(JubeOptionsTest, EveryTopicOfJubesIsThere) {
  for (const char* topic :
       {"directory_structure", "general_structure_xml", "general_structure_yaml", "parameter_space",
        "statistical_values", "tagging", "types", "update", "workpackage"}) {
    const auto help = here_.bench({"help", topic});
    EXPECT_EQ(help.status.code, 0) << topic;
    EXPECT_GT(help.standard_output.size(), 200) << topic;
  }
}

TEST_F(JubeOptionsTest, EveryTopicThatAnotherNamesIsThere) {
  const std::string all = here_.bench({"help", "ALL"}).standard_output;
  int named = 0;
  for (const std::string& line : split(all, "\n")) {
    const std::string see = "See also: ";
    const auto begin = line.find(see);
    if (begin == std::string::npos)
      continue;
    for (std::string name : split_names(line.substr(begin + see.size()))) {
      if (name.ends_with('.'))
        name.pop_back();
      if (name.find_first_of("`/;") != std::string::npos)
        continue;  // a command or a file
      ++named;
      EXPECT_EQ(here_.bench({"help", name}).status.code, 0) << name;
    }
  }
  EXPECT_GT(named, 20);
}

}  // namespace
}  // namespace bench::end_to_end
