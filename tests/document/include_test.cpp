#include "dump.hpp"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/environment_variable.hpp>
#include <support/error_of.hpp>
#include <support/temp_directory.hpp>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

class Include : public testing::Test {
 protected:
  std::string read(const std::string& name, const ReadOptions& options = {}) const {
    Diagnostics strict(true);
    return dump_children(read_document(files.path() / name, options, strict).root);
  }
  /// What a benchmark with this step holds in it.
  std::string step(const std::string& yaml) const {
    files.write("in.yaml", "step:\n" + yaml);
    const std::string all = read("in.yaml");
    const std::string before = "benchmark(step(";
    return all.starts_with(before) ? all.substr(before.size(), all.size() - before.size() - 2)
                                   : all;
  }
  std::string error(const std::string& name, const ReadOptions& options = {}) const {
    std::string text = support::error_of([&] { read(name, options); });
    for (auto at = text.find(files.path()); at != std::string::npos; at = text.find(files.path()))
      text.erase(at, files.path().string().size());
    return text;
  }

  support::TempDirectory files;
};

TEST_F(Include, StandsWhereverAValueMay) {
  files.write(
      "inc.yaml",
      "dos: [echo 1, echo 2]\nsteps: [{do: x}, {do: y}]\ntext: hello\nmap: {_: z, active: a}\n");
  EXPECT_EQ(step("  do: !include inc.yaml:[\"dos\"]\n"), R"(do("echo 1") do("echo 2"))");
  EXPECT_EQ(step("  do: [a, !include \"inc.yaml:['dos']\", b]\n"),
            R"(do("a") do("echo 1") do("echo 2") do("b"))");
  EXPECT_EQ(step("  do: !include inc.yaml:[\"map\"]\n"), R"(do[active=a]("z"))");
  EXPECT_EQ(step("  do: {_: !include \"inc.yaml:['dos'][1]\"}\n"), R"(do("echo 2"))");
  EXPECT_EQ(step("  do: {stdout: !include \"inc.yaml:['text']\", _: a}\n"),
            R"(do[stdout=hello]("a"))");
  EXPECT_EQ(step("  !include inc.yaml:[\"steps\"][0]\n"), R"(do("x"))");
  EXPECT_EQ(step("  !include inc.yaml:[\"steps\"][-1]\n"), R"(do("y"))");
}

TEST_F(Include, TakesAWholeFile) {
  files.write("dos.yaml", "[echo 1, +8]\n");
  EXPECT_EQ(step("  do: !include dos.yaml\n"), R"(do("echo 1") do("8"))");
  EXPECT_EQ(step("  do: !include dos.yaml::_[0]\n"), R"(do("echo 1"))");
}

TEST_F(Include, MayIncludeFurther) {
  files.write("a.yaml", "dos: !include b.yaml\n");
  files.write("b.yaml", "[one, two]\n");
  EXPECT_EQ(step("  do: !include a.yaml:[\"dos\"][1]\n"), R"(do("two"))");
}

TEST_F(Include, MayTakeAnotherPartOfItsOwnFile) {
  EXPECT_EQ(step("  do: !include in.yaml:[\"x-do\"]\nx-do: [a, b]\n"), R"(do("a") do("b"))");
}

TEST_F(Include, KeepsThePlaceOfWhatIsIncluded) {
  files.write("inc.yaml", "dos:\n  - {_: a, active: b}\n");
  files.write("in.yaml", "step: {do: !include \"inc.yaml:['dos']\"}\n");
  Diagnostics strict(true);
  const Node root = read_document(files.path() / "in.yaml", {}, strict).root;
  const Node& command = *root.first("benchmark")->first("step")->first("do");
  const std::string file = files.path() / "inc.yaml";
  EXPECT_EQ(command.place, (Place{file, 2, 5}));
  EXPECT_EQ(command.find("active")->place, (Place{file, 2, 20}));
}

TEST_F(Include, RefusesALoop) {
  files.write("a.yaml", "[x, !include b.yaml]\n");
  files.write("b.yaml", "[!include a.yaml]\n");
  files.write("in.yaml", "step: {do: !include a.yaml}\n");
  EXPECT_THAT(error("in.yaml"),
              testing::StartsWith("/b.yaml:1:2: error: 'a.yaml' includes itself"));
}

TEST_F(Include, RefusesABombOfIncludes) {
  files.write("i0.yaml", "[a, b, c, d, e, f, g, h, i, j]\n");
  for (int k = 1; k < 9; ++k) {
    const std::string one = "!include i" + std::to_string(k - 1) + ".yaml";
    std::string list = "[" + one;
    for (int copy = 1; copy < 10; ++copy)
      list += ", " + one;
    files.write("i" + std::to_string(k) + ".yaml", list + "]\n");
  }
  files.write("in.yaml", "step: {do: !include i8.yaml}\n");
  EXPECT_THAT(error("in.yaml"),
              testing::HasSubstr("more than 1,000,000 values once the includes are expanded"));
}

TEST_F(Include, SaysWhatCannotBeSelected) {
  files.write("inc.yaml", "dos: [a, b]\nk: text\n");
  const auto message = [&](const std::string& include) {
    files.write("in.yaml", "step:\n  do: !include " + include + "\n");
    const std::string text = error("in.yaml");
    return text.substr(0, text.find('\n')).substr(text.find("error: ") + 7);
  };
  EXPECT_EQ(message("inc.yaml:[\"do\"]"), "'inc.yaml' has no key 'do'");
  EXPECT_EQ(message("inc.yaml:[\"dos\"][2]"), "there is no item [2] in a list of 2");
  EXPECT_EQ(message("inc.yaml:[\"dos\"][\"a\"]"), "'a' cannot be selected from a list");
  EXPECT_EQ(message("inc.yaml:[\"k\"][0]"), "'0' cannot be selected from a text");
  EXPECT_EQ(message("inc.yaml:[\"dos\"]:[i for i in _]"),
            "cannot include '[i for i in _]' of a file");
  EXPECT_EQ(message("inc.yaml:dos"), "cannot include 'dos' of a file");
}

TEST_F(Include, ReplacesElementsInXml) {
  files.write(
      "inc.xml",
      "<j><set><do>a</do><do tag='no'>b</do></set><do>c</do><x><use name='u'>d</use></x></j>");
  files.write("in.xml",
              "<j><benchmark><step><include from='inc.xml' path='set/do'/>"
              "<do>own</do><include from='inc.xml' path=\".//use[@name='u']\"/>"
              "<include from='absent.xml' tag='no'/></step></benchmark></j>");
  Diagnostics diagnostics;
  EXPECT_EQ(dump_children(read_document(files.path() / "in.xml", {}, diagnostics).root),
            R"(benchmark(step(do("a") do("own") use[name=u]("d"))))");
}

TEST_F(Include, TakesTheRootElementOfAnXmlFile) {
  files.write("do.xml", "<do stdout='o'>a</do>");
  files.write("step.xml", "<step><include from='do.xml'/></step>");
  files.write("in.xml", "<j><benchmark><include from='step.xml'/></benchmark></j>");
  EXPECT_EQ(read("in.xml"), R"(benchmark(step(do[stdout=o]("a"))))");
}

TEST_F(Include, LeavesIncludesAloneThatTagsRemove) {
  files.write("in.xml",
              "<j><benchmark><step tag='!go'><include from='absent.xml' tag='a'/>"
              "<include from='absent.xml'/></step></benchmark></j>");
  EXPECT_EQ(read("in.xml", {.tags = {"go"}}), "benchmark");
  Diagnostics strict(true);
  EXPECT_EQ(read_document(files.path() / "in.xml", {.tags = {"go"}}, strict).tag_names,
            (std::set<std::string>{"a", "go"}));
}

TEST_F(Include, RefusesALoopOfXmlFiles) {
  files.write("in.xml", "<j><benchmark><include from='step.xml'/></benchmark></j>");
  files.write("step.xml", "<step><include from='do.xml' path='do'/></step>");
  files.write("do.xml", "<j><do>a</do><include from='step.xml'/></j>");
  EXPECT_EQ(read("in.xml"), R"(benchmark(step(do("a"))))")
      << "what is not selected is not looked at";
  files.write("step.xml", "<step><include from='step.xml'/></step>");
  EXPECT_THAT(error("in.xml"),
              testing::StartsWith("/step.xml:1:22: error: 'step.xml' includes itself"));
}

TEST_F(Include, SaysWhatAPathDoesNotFind) {
  files.write("inc.xml", "<j><do a='b'>c</do></j>");
  const auto message = [&](const std::string& path) {
    files.write("in.xml", "<j><benchmark><step><include from='inc.xml' path=\"" + path +
                              "\"/></step></benchmark></j>");
    const std::string text = error("in.xml");
    return text.substr(0, text.find('\n')).substr(text.find("error: ") + 7);
  };
  EXPECT_EQ(message("dos"), "the path 'dos' finds nothing in 'inc.xml'");
  EXPECT_EQ(message("do/@a"), "the path 'do/@a' finds something else than elements");
  EXPECT_THAT(message("do["), testing::StartsWith("the path 'do[' does not parse: "));
  EXPECT_THAT(message("count(do)"), testing::StartsWith("the path 'count(do)' does not parse: "));
}

class IncludePathTest : public Include, public testing::WithParamInterface<std::string> {
 protected:
  /// The name of the directory in which `who` is found, in order of precedence.
  std::string found(const ReadOptions& options) const {
    files.write(
        "s/in.yaml",
        "include-path: [{path: own}, {tag: other, _: not}]\nstep: {do: !include who.yaml}\n");
    files.write("s/in.xml",
                "<j><include-path><path>own</path><path tag='other'>not</path></include-path>"
                "<benchmark><step><include from='who.yaml'/></step></benchmark></j>");
    const std::string all = read("s/in." + GetParam(), options);
    const auto begin = all.find("do(\"") + 4;
    return all.substr(begin, all.find('"', begin) - begin);
  }
  void place_in(const std::string& directory) const {
    files.write(directory + "/who.yaml",
                GetParam() == "xml" ? "<do>" + directory + "</do>" : directory + "\n");
  }
};

TEST_P(IncludePathTest, IsSearchedInOrder) {
  const support::EnvironmentVariable variable("JUBE_INCLUDE_PATH", (files.path() / "env").string());
  const ReadOptions options{
      .tags = {}, .include_path = {files.path() / "option"}, .library = files.path() / "library"};
  place_in("s/not");
  for (const char* directory : {"library", "s", "env", "s/own", "option"}) {
    place_in(directory);
    EXPECT_EQ(found(options), directory);
  }
}

INSTANTIATE_TEST_SUITE_P(Notations, IncludePathTest, testing::Values("yaml", "xml"),
                         [](const auto& test) { return test.param; });

TEST_F(Include, SaysWhereItLooked) {
  files.write("in.yaml", "include-path: a\nstep: {do: !include absent.yaml}\n");
  EXPECT_THAT(error("in.yaml", {.tags = {}, .include_path = {"/o"}, .library = "/l"}),
              testing::AllOf(testing::StartsWith("/in.yaml:2:12: error: cannot find the file "
                                                 "'absent.yaml'\n"),
                             testing::EndsWith("hint: searched: /o, /a, , /l")));
}

TEST_F(Include, ExpandsTheEnvironmentInItsPath) {
  const support::EnvironmentVariable variable("BENCH_TEST_DIRECTORY", files.path() / "there");
  files.write("there/do.yaml", "x\n");
  files.write("in.yaml", "include-path: $BENCH_TEST_DIRECTORY\nstep: {do: !include do.yaml}\n");
  EXPECT_EQ(read("in.yaml"), R"(include-path(")" + std::string("$BENCH_TEST_DIRECTORY") +
                                 R"(") benchmark(step(do("x"))))");
}

}  // namespace
}  // namespace bench::document
