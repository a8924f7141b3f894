#include "dump.hpp"

#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/error_of.hpp>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

struct XmlCase {
  std::string name;
  std::string xml;
  std::string expected;
};
void PrintTo(const XmlCase& c, std::ostream* out) {
  *out << c.name;
}

class XmlTest : public testing::TestWithParam<XmlCase> {};

TEST_P(XmlTest, GivesTheTree) {
  EXPECT_EQ(dump_xml(GetParam().xml), GetParam().expected);
}

std::string in_step(const std::string& xml) {
  return "<jube><benchmark><step>" + xml + "</step></benchmark></jube>";
}

INSTANTIATE_TEST_SUITE_P(
    Texts, XmlTest,
    testing::Values(
        XmlCase{"AnyRootName", "<any><benchmark name='b'/></any>", "benchmark[name=b]"},
        XmlCase{"CommentsJoin", in_step("<do>before <!-- c --> after</do>"),
                R"(benchmark(step(do("before  after"))))"},
        XmlCase{"CommentInAPythonDictionary", in_step("<do>{'a': 1,\n<!-- b -->\n'c': 2}</do>"),
                "benchmark(step(do(\"{'a': 1,\n\n'c': 2}\")))"},
        XmlCase{"CdataAndEntities", in_step("<do>a &lt; <![CDATA[<b> && ]]>&#99;&#x64;</do>"),
                R"(benchmark(step(do("a < <b> && cd"))))"},
        XmlCase{"BlanksStay", in_step("<do>  a\n </do>"), "benchmark(step(do(\"  a\n \")))"},
        XmlCase{"EntityNamesInCommentsMeanNothing", in_step("<!-- & &x; --><do>a</do><?p &y; ?>"),
                R"(benchmark(step(do("a"))))"},
        XmlCase{"NewlineInAnAttribute", in_step("<do stdout='a\nb&#10;c'/>"),
                "benchmark(step(do[stdout=a b\nc]))"},
        XmlCase{"CarriageReturns", in_step("<do>a\r\nb</do>"), "benchmark(step(do(\"a\nb\")))"},
        XmlCase{"Analyzer", "<jube><benchmark><analyzer name='a'/></benchmark></jube>",
                "benchmark(analyser[name=a])"}),
    [](const auto& test) { return test.param.name; });

/// What a user sees of a text in a file that does not exist.
std::string messages(const std::string& xml) {
  Diagnostics diagnostics;
  std::string text = support::error_of([&] { read_xml(xml, "t.xml", diagnostics); });
  for (const Warning& warning : diagnostics.warnings())
    text += "\n" + render(Severity::warning, warning.message, warning.hint, warning.place);
  return text;
}

TEST(Xml, WarnsOfTextBetweenElements) {
  EXPECT_EQ(messages("<jube>\n<benchmark/>>\n</jube>"),
            "(no error)\nt.xml:2:13: warning: the text '>' in <jube> has no effect");
}

TEST(Xml, WarnsOfUnknownAttributes) {
  EXPECT_EQ(
      messages(in_step("<use form='f'>a</use>")),
      "(no error)\nt.xml:1:29: warning: unknown attribute 'form' in <use>\nhint: did you mean "
      "'from'?");
}

TEST(Xml, WarnsOfElementsInATextAndDropsWhatFollows) {
  const std::string xml = in_step("<do>a <b>c</b> d</do>");
  EXPECT_EQ(messages(xml),
            "(no error)\nt.xml:1:30: warning: <b> and the text behind it have no effect in "
            "<do>\nhint: write &lt; for a '<' in a text");
  Diagnostics diagnostics;
  EXPECT_EQ(dump_children(read_xml(xml, "t.xml", diagnostics)), R"(benchmark(step(do("a "))))");
}

TEST(Xml, TakesAnyElementOfAnAnalyseForAFile) {
  const std::string xml =
      "<jube><benchmark><analyser><analyse><out>a</out></analyse></analyser></benchmark></jube>";
  EXPECT_EQ(messages(xml),
            "(no error)\nt.xml:1:37: warning: <out> in <analyse> is taken for <file>");
  Diagnostics diagnostics;
  EXPECT_EQ(dump_children(read_xml(xml, "t.xml", diagnostics)),
            R"(benchmark(analyser(analyse(file("a")))))");
}

TEST(Xml, GivesPlacesFromOne) {
  Diagnostics strict(true);
  const Node root = read_xml(
      "\xEF\xBB\xBF<jube>\n"
      "  <benchmark name='é' outpath = \"o\"\n"
      "             file_path_ref=''>\n"
      "    <comment>\n"
      "      text &amp; more</comment>\n"
      "    <step><do/></step>\n"
      "  </benchmark>\n"
      "</jube>\n",
      "t.xml", strict);
  const auto at = [](int line, int column) { return Place{"t.xml", line, column}; };
  const Node& benchmark = *root.first("benchmark");
  EXPECT_EQ(root.place, at(1, 1));
  EXPECT_EQ(benchmark.place, at(2, 3));
  EXPECT_EQ(benchmark.find("name")->name_place, at(2, 14));
  EXPECT_EQ(benchmark.find("name")->place, at(2, 20));
  EXPECT_EQ(benchmark.find("outpath")->place, at(2, 35)) << "columns count bytes";
  EXPECT_EQ(benchmark.find("file_path_ref")->place, at(3, 29));
  EXPECT_EQ(benchmark.first("comment")->text_place, at(5, 7));
  EXPECT_EQ(benchmark.first("step")->first("do")->place, at(6, 11));
}

struct SyntaxCase {
  std::string name;
  std::string xml;
  std::string message;
};
void PrintTo(const SyntaxCase& c, std::ostream* out) {
  *out << c.name;
}

class XmlSyntaxTest : public testing::TestWithParam<SyntaxCase> {};

TEST_P(XmlSyntaxTest, IsRefusedAtItsPlace) {
  EXPECT_THAT(messages(GetParam().xml), testing::StartsWith("t.xml:" + GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, XmlSyntaxTest,
    testing::Values(
        SyntaxCase{"BracketInAValue", "<j>\n<a b='x<y'/></j>",
                   "2:8: error: the value of an attribute holds a '<'\nhint: write &lt; for the "
                   "character itself, or end the value before it"},
        SyntaxCase{"MarkupInAValue", "<j a='<!--' b='&x;'/>",
                   "1:7: error: the value of an attribute holds a '<'"},
        SyntaxCase{"OpenValue", "<j>\n<a b='x>\n<c d='e'/></j>",
                   "3:1: error: the value of an attribute holds a '<'"},
        SyntaxCase{"EntityInAValueThatLooksLikeMarkup", "<j a='!--' b='&x;'/>",
                   "1:15: error: unknown entity '&x;'"},
        SyntaxCase{"CharacterThatIsNone", "<j a='b' c='&#x20acBBBB;'/>",
                   "1:13: error: unknown entity '&#x20acBBBB;'"},
        SyntaxCase{"OpenReference", "<j a='b &c d'/>", "1:9: error: '&' does not begin an entity"},
        SyntaxCase{"NoBlank", "<j a='b'c='d'/>", "1:9: error: this is not an attribute"},
        SyntaxCase{"NoValue", "<j a/>", "1:5: error: this is not an attribute"},
        SyntaxCase{"TagInATag", "<j>\n<a <b/></j>", "2:4: error: this is not an attribute"},
        SyntaxCase{"OpenTag", "<j>\n <a b='c'\n", "2:2: error: '<a' is never closed"},
        SyntaxCase{"OpenCdata", "<j>\n <![CDATA[ a </j>",
                   "2:2: error: '<![CDATA[' is never closed"},
        SyntaxCase{"OpenDeclaration", "\n<?xml version='1.0'>",
                   "2:1: error: '<?xml' is never closed"},
        SyntaxCase{"OpenDocumentType", "<!DOCTYPE j [\n<!ENTITY a 'b'>\n",
                   "1:1: error: '<!DOCTYPE' is never closed"},
        SyntaxCase{"HyphensInAComment", "<j><!-- a < b\n -- c --></j>",
                   "2:2: error: a comment holds '--'"},
        SyntaxCase{"EndOfCdataInAText", "<j>a ]]> b</j>", "1:6: error: ']]>' ends nothing"},
        SyntaxCase{"EndWithoutBegin", "</j>", "1:1: error: </j> closes nothing"},
        SyntaxCase{"SecondEnd", "<j/>\n</k>", "2:1: error: </k> closes nothing"},
        SyntaxCase{"TextBehindAll", "<j/>\nabc", "2:1: error: text behind the root element"},
        SyntaxCase{"TextBeforeAll", "abc\n<j/>", "1:1: error: this is not valid XML"}),
    [](const auto& test) { return test.param.name; });

TEST(Xml, TakesADeclarationBehindBlanks) {
  EXPECT_EQ(dump_xml("\n <?xml version='1.1'?><j><benchmark name='b'/></j>"), "benchmark[name=b]");
}

TEST(Xml, RefusesDeepNesting) {
  std::string open;
  for (int k = 0; k < 100'000; ++k)
    open += "<step>";
  EXPECT_NE(messages("<jube><benchmark>" + open), "(no error)");
  EXPECT_NE(messages(open), "(no error)");
}

TEST(Xml, RefusesBytesThatAreNoText) {
  const std::string hint = "\nhint: input files are UTF-8 text";
  EXPECT_EQ(messages("<j>\xFF</j>"), "t.xml:1:4: error: bytes that are not UTF-8" + hint);
  EXPECT_EQ(messages("<j>\x01</j>"), "t.xml:1:4: error: a control character (0x01)" + hint);
  EXPECT_THAT(messages("<j>&#0;</j>"), testing::HasSubstr("unknown entity '&#0;'"));
}

TEST(Xml, RefusesAFileWithoutContent) {
  EXPECT_EQ(messages(" \n"), "t.xml: error: the file is empty");
  EXPECT_EQ(messages("<!-- only this -->"), "t.xml:1:18: error: no element in this file");
}

}  // namespace
}  // namespace bench::document
