#include "dump.hpp"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/error_of.hpp>
#include <support/temp_directory.hpp>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

class SetsTest : public testing::Test {
 protected:
  Node root(const std::string& yaml, const std::set<std::string>& tags = {}) const {
    Diagnostics strict(true);
    return read_document(files.write("in.yaml", yaml), {.tags = tags}, strict).root;
  }
  std::string read(const std::string& yaml, const std::set<std::string>& tags = {}) const {
    return without_directory(dump_children(root(yaml, tags)));
  }
  std::string error(const std::string& yaml) const {
    return without_directory(support::error_of([&] { root(yaml); }));
  }
  std::string without_directory(std::string text) const {
    const std::string& directory = files.path().string();
    for (auto at = text.find(directory); at != std::string::npos; at = text.find(directory))
      text.erase(at, directory.size());
    return text;
  }

  support::TempDirectory files;
};

TEST_F(SetsTest, OwnParametersReplaceInPlaceOrAreAppended) {
  files.write("e.yaml", "parameterset: {name: p, parameter: {a: 1, b: 2, c: 3}}\n");
  EXPECT_EQ(read("parameterset: {name: p, init_with: e.yaml, parameter: {d: 5, b: 4}}\n"),
            R"(benchmark(parameterset[name=p](parameter[name=a]("1") parameter[name=b]("4") )"
            R"(parameter[name=c]("3") parameter[name=d]("5"))))");
}

TEST_F(SetsTest, TakesASetOfAnotherNameFromXml) {
  files.write("e.xml",
              "<j><parameterset name='q'><parameter name='a'>1</parameter></parameterset>"
              "<patternset name='q'/></j>");
  EXPECT_EQ(read("parameterset: {name: p, init_with: \"e.xml:q\"}\n"),
            R"(benchmark(parameterset[name=p](parameter[name=a]("1"))))");
}

TEST_F(SetsTest, KeepsThePlaces) {
  files.write("e.yaml", "parameterset:\n  name: p\n  parameter: {a: 1}\n");
  const Node read = root("parameterset: {name: p, init_with: e.yaml, parameter: {b: 2}}\n");
  const Node& set = *read.first("benchmark")->first("parameterset");
  EXPECT_EQ(set.place, (Place{files.path() / "in.yaml", 1, 15}));
  EXPECT_EQ(set.children[0].place, (Place{files.path() / "e.yaml", 3, 15}));
}

TEST_F(SetsTest, FollowsChains) {
  files.write("e1.yaml", "parameterset: {name: p, init_with: \"e2.yaml:q\", parameter: {a: 1}}\n");
  files.write("e2.yaml", "parameterset: {name: q, parameter: {a: 0, b: 2}}\n");
  EXPECT_EQ(read("parameterset: {name: p, init_with: e1.yaml, parameter: {c: 3}}\n"),
            R"(benchmark(parameterset[name=p](parameter[name=a]("1") parameter[name=b]("2") )"
            R"(parameter[name=c]("3"))))");
}

TEST_F(SetsTest, LooksBesideTheFileThatNamesAnother) {
  files.write("lib/e1.yaml", "parameterset: {name: p, init_with: e2.yaml}\n");
  files.write("lib/e2.yaml", "parameterset: {name: p, parameter: {a: 1}}\n");
  EXPECT_EQ(read("parameterset: {name: p, init_with: lib/e1.yaml}\n"),
            R"(benchmark(parameterset[name=p](parameter[name=a]("1"))))");
}

TEST_F(SetsTest, AppliesTheTags) {
  files.write("e.yaml",
              "parameterset: {name: p, parameter: [{name: a, tag: x, _: 1}, "
              "{name: a, tag: \"!x\", _: 2}]}\n");
  const std::string yaml = "parameterset: {name: p, init_with: e.yaml}\n";
  EXPECT_EQ(read(yaml, {"x"}), R"(benchmark(parameterset[name=p](parameter[name=a]("1"))))");
  EXPECT_EQ(read(yaml), R"(benchmark(parameterset[name=p](parameter[name=a]("2"))))");
  Diagnostics strict(true);
  const Document document = read_document(files.path() / "in.yaml", {}, strict);
  EXPECT_EQ(document.all_tag_names, (std::set<std::string>{"x"}));
  EXPECT_TRUE(document.tag_names.empty());
}

TEST_F(SetsTest, InheritsDuplicate) {
  files.write("e.yaml", "parameterset: {name: p, duplicate: concat}\n");
  EXPECT_EQ(read("parameterset: {name: p, init_with: e.yaml}\n"),
            "benchmark(parameterset[name=p duplicate=concat])");
  EXPECT_EQ(read("parameterset: {name: p, init_with: e.yaml, duplicate: concat}\n"),
            "benchmark(parameterset[name=p duplicate=concat])");
  EXPECT_EQ(error("parameterset: {name: p, init_with: e.yaml, duplicate: error}\n"),
            "/in.yaml:1:55: error: 'duplicate' is 'error' here and 'concat' in the set that this "
            "one extends\n  parameterset: {name: p, init_with: e.yaml, duplicate: error}\n"
            "                                                        ^\n"
            "hint: that one is at /e.yaml:1");
}

TEST_F(SetsTest, KeepsDoubledOwnParameters) {
  files.write("e.yaml", "parameterset: {name: p, parameter: {a: 0, b: 9}}\n");
  EXPECT_EQ(read("parameterset: {name: p, init_with: e.yaml, duplicate: error,\n"
                 "  parameter: [{name: a, _: 1}, {name: a, _: 2}]}\n"),
            R"(benchmark(parameterset[name=p duplicate=error](parameter[name=a]("1") )"
            R"(parameter[name=a]("2") parameter[name=b]("9"))))");
}

struct JoinCase {
  std::string name;
  std::string file;
  std::string external;
  std::string local;
  std::string expected;
};

class JoinedSetsTest : public SetsTest, public testing::WithParamInterface<JoinCase> {};

TEST_P(JoinedSetsTest, KeepsTheDefinitionsOfBoth) {
  files.write(GetParam().file, GetParam().external);
  EXPECT_EQ(read(GetParam().local + "\n"), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    InitWith, JoinedSetsTest,
    testing::Values(
        JoinCase{"SaidBySet", "e.yaml", "parameterset: {name: p, parameter: {name: a, _: '1,2'}}\n",
                 "parameterset: {name: p, init_with: e.yaml, duplicate: concat, "
                 "parameter: {name: a, _: '3'}}",
                 R"(benchmark(parameterset[name=p duplicate=concat](parameter[name=a]("1,2") )"
                 R"(parameter[name=a]("3"))))"},
        JoinCase{"SaidByTheOtherSet", "e.xml",
                 "<j><parameterset name='p' duplicate='concat'><parameter name='a'>1,2</parameter>"
                 "</parameterset></j>",
                 "parameterset: {name: p, init_with: e.xml, parameter: {name: a, _: '3'}}",
                 R"(benchmark(parameterset[name=p duplicate=concat](parameter[name=a]("1,2") )"
                 R"(parameter[name=a]("3"))))"},
        JoinCase{"SaidByTheParameter", "e.yaml",
                 "parameterset: {name: p, parameter: {name: a, duplicate: concat, _: '1'}}\n",
                 "parameterset: {name: p, init_with: e.yaml, "
                 "parameter: {name: a, duplicate: concat, _: '3'}}",
                 R"(benchmark(parameterset[name=p](parameter[name=a duplicate=concat]("1") )"
                 R"(parameter[name=a duplicate=concat]("3"))))"},
        JoinCase{"ReplacedByAParameterThatSaysSo", "e.yaml",
                 "parameterset: {name: p, parameter: {name: a, duplicate: replace, _: '1'}}\n",
                 "parameterset: {name: p, init_with: e.yaml, duplicate: concat, "
                 "parameter: {name: a, duplicate: replace, _: '3'}}",
                 R"(benchmark(parameterset[name=p duplicate=concat](parameter[name=a )"
                 R"(duplicate=replace]("3"))))"}),
    [](const auto& test) { return test.param.name; });

TEST_F(SetsTest, LeavesOutUnknownElementsOfOtherFiles) {
  files.write("e.xml",
              "<jube><parameterset name='p'><parameter name='a'>1</parameter></parameterset>\n"
              "<dos><do>echo</do></dos></jube>\n");
  Diagnostics diagnostics;
  files.write("in.yaml", "parameterset: {name: p, init_with: e.xml}\n");
  const Document document = read_document(files.path() / "in.yaml", {}, diagnostics);
  EXPECT_EQ(dump_children(document.root),
            R"(benchmark(parameterset[name=p](parameter[name=a]("1"))))");
  ASSERT_EQ(diagnostics.warnings().size(), 1U);
  EXPECT_EQ(diagnostics.warnings()[0].message, "unknown element <dos> in <jube>");
}

TEST_F(SetsTest, LeavesOutTheAnalysesOfStepsThatTagsRemove) {
  Diagnostics strict(true);
  files.write("in.yaml",
              "step: [{name: a}, {name: b, tag: x}]\n"
              "analyser: {name: an, analyse: [{step: a}, {step: b}, {step: c}]}\n");
  const Document document = read_document(files.path() / "in.yaml", {}, strict);
  EXPECT_EQ(dump_children(document.root),
            "benchmark(step[name=a] analyser[name=an](analyse[step=a] analyse[step=c]))");
  ASSERT_EQ(strict.notes().size(), 1U);
  EXPECT_EQ(strict.notes()[0].message, "nothing is analysed of step 'b', which the tags leave out");
}

TEST_F(SetsTest, MergesSubstitutions) {
  files.write("e.yaml",
              "substituteset: {name: s, iofile: [{in: a, out: o}, {in: b, out: p}],\n"
              "  sub: [{source: X, dest: 1}, {source: Y, dest: 2}]}\n");
  EXPECT_EQ(
      read("substituteset: {name: s, init_with: e.yaml,\n"
           "  iofile: [{in: c, out: o}, {in: d, out: p, out_mode: a}], sub: {source: Y, dest: "
           "3}}\n"),
      "benchmark(substituteset[name=s](iofile[in=c out=o] iofile[in=b out=p] sub[source=X dest=1] "
      "sub[source=Y dest=3] iofile[in=d out=p out_mode=a]))");
}

TEST_F(SetsTest, FilesStayRelativeToTheirFile) {
  files.write(
      "lib/e.yaml",
      "fileset: {name: f, init_with: \"more/m.yaml\", copy: [a, {file_path_ref: ../x, _: b}], "
      "prepare: c}\n");
  files.write("lib/more/m.yaml", "fileset: {name: f, link: l}\n");
  EXPECT_EQ(read("fileset: {name: f, init_with: lib/e.yaml, copy: own}\n"),
            R"(benchmark(fileset[name=f](link[file_path_ref=/lib/more/]("l") )"
            R"(copy[file_path_ref=/lib/]("a") copy[file_path_ref=/x]("b") prepare("c") )"
            R"(copy("own"))))");
}

TEST_F(SetsTest, RefusesASetThatIsInitialisedWithItself) {
  EXPECT_THAT(error("parameterset: {name: p, init_with: in.yaml}\n"),
              testing::StartsWith("/in.yaml:1:36: error: parameterset 'p' is initialised with "
                                  "itself"));
  files.write("e.yaml", "parameterset: {name: p, init_with: in.yaml}\n");
  EXPECT_THAT(error("parameterset: {name: p, init_with: e.yaml}\n"),
              testing::StartsWith("/e.yaml:1:36: error: parameterset 'p' is initialised with "
                                  "itself"));
}

TEST_F(SetsTest, MayExtendAnotherSetOfItsOwnFile) {
  EXPECT_EQ(read("parameterset: [{name: p, init_with: \"in.yaml:q\"}, "
                 "{name: q, parameter: {a: 1}}]\n"),
            R"(benchmark(parameterset[name=p](parameter[name=a]("1")) )"
            R"(parameterset[name=q](parameter[name=a]("1"))))");
}

TEST_F(SetsTest, SaysWhichSetIsMissingOrThereTwice) {
  files.write("e.yaml",
              "patternset: {name: params}\nparameterset: [{name: param}, {name: q}, {name: q}]\n");
  EXPECT_THAT(error("parameterset: {name: params, init_with: e.yaml}\n"),
              testing::AllOf(testing::HasSubstr("'/e.yaml' has no parameterset 'params'"),
                             testing::EndsWith("hint: did you mean 'param'?")));
  EXPECT_THAT(error("parameterset: {name: q, init_with: e.yaml}\n"),
              testing::HasSubstr("'/e.yaml' has 2 sets 'q'"));
}

/// `jube_<32 digits>_` as `P_`.
std::string without_hashes(std::string text) {
  for (auto at = text.find("jube_"); at != std::string::npos; at = text.find("jube_"))
    text.replace(at, 5 + 32, "P");
  return text;
}

TEST_F(SetsTest, UseFromBringsSetsUnderPrivateNames) {
  files.write(
      "e.yaml",
      "parameterset: [{name: p, parameter: {a: 1}}, {name: q}]\nfileset: {name: f, copy: c}\n");
  EXPECT_EQ(without_hashes(read("parameterset: {name: p}\n"
                                "step: [{use: [p, {from: e.yaml, _: \"p,f\"}]}, "
                                "{use: {from: e.yaml, _: p}}]\n")),
            R"(benchmark(parameterset[name=p] step(use("p") use("P_p,P_f")) step(use("P_p")) )"
            R"(parameterset[name=P_p](parameter[name=a]("1")) )"
            R"(fileset[name=P_f](copy[file_path_ref=/]("c"))))");
}

TEST_F(SetsTest, UseFromWithAParameterBringsWhatIsListed) {
  files.write("e.yaml", "parameterset: [{name: p1}, {name: p2}, {name: p3}]\n");
  files.write("f.yaml", "patternset: {name: q}\n");
  EXPECT_EQ(without_hashes(read("step: {use: {from: \"e.yaml:p1:p2, f.yaml\", _: \"p$i,q\"}}\n")),
            R"(benchmark(step(use("P_p$i,P_q")) parameterset[name=P_p1] parameterset[name=P_p2] )"
            R"(patternset[name=P_q]))");
  EXPECT_THAT(error("step: {use: {from: e.yaml, _: p$i}}\n"),
              testing::AllOf(testing::HasSubstr("'p$i' holds a parameter"),
                             testing::EndsWith("from: FILE:set1:set2")));
}

TEST_F(SetsTest, UseFromWorksForAnalysers) {
  files.write("e.xml", "<j><patternset name='q'><pattern name='x'>y</pattern></patternset></j>");
  EXPECT_EQ(without_hashes(read("analyser: {use: {from: e.xml, _: q}}\n")),
            R"(benchmark(analyser(use("P_q")) patternset[name=P_q](pattern[name=x]("y"))))");
}

TEST_F(SetsTest, WarnsOfUseFromInAResult) {
  EXPECT_EQ(error("result: {use: {from: e.yaml, _: a}}\n"),
            "/in.yaml:1:16: error: 'from' has no effect in a result\n"
            "  result: {use: {from: e.yaml, _: a}}\n"
            "                 ^\n"
            "hint: a result uses the analysers of its own benchmark");
}

TEST_F(SetsTest, UsesFromDifferentTextsAreDifferentSets) {
  files.write("e.yaml", "parameterset: {name: p}\n");
  const Node read = root("step: {use: [{from: e.yaml, _: p}, {from: \"e.yaml:p\", _: p}]}\n");
  EXPECT_EQ(read.first("benchmark")->all("parameterset").size(), 2U);
}

TEST_F(SetsTest, UseFromSaysWhichSetIsMissing) {
  files.write("e.yaml", "parameterset: {name: platform}\npatternset: {name: platform}\n");
  EXPECT_THAT(error("step: {use: {from: e.yaml, _: platfrm}}\n"),
              testing::AllOf(testing::HasSubstr("/in.yaml:1:31: error: '/e.yaml' has no set "
                                                "'platfrm'"),
                             testing::EndsWith("hint: did you mean 'platform'?")));
  EXPECT_THAT(error("step: {use: {from: e.yaml, _: platform}}\n"),
              testing::HasSubstr("'/e.yaml' has 2 sets 'platform'"));
}

}  // namespace
}  // namespace bench::document
