#include "dump.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/error_of.hpp>
#include <support/temp_directory.hpp>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// What a user sees of a text in a file that does not exist.
std::string messages(const std::string& xml) {
  Diagnostics diagnostics;
  std::string text = support::error_of([&] { read_xml(xml, "t.xml", diagnostics); });
  for (const Warning& warning : diagnostics.warnings())
    text += "\n" + render(Severity::warning, warning.message, warning.hint, warning.place);
  return text;
}

struct XmlCase {
  std::string name;
  std::string xml;
  std::string expected;
};

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

class XmlSyntaxTest : public testing::TestWithParam<SyntaxCase> {};

TEST_P(XmlSyntaxTest, IsRefusedAtItsPlace) {
  EXPECT_THAT(messages(GetParam().xml), StartsWith("t.xml:" + GetParam().message));
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
  EXPECT_THAT(messages("<j>&#0;</j>"), HasSubstr("unknown entity '&#0;'"));
}

TEST(Xml, RefusesAFileWithoutContent) {
  EXPECT_EQ(messages(" \n"), "t.xml: error: the file is empty");
  EXPECT_EQ(messages("<!-- only this -->"), "t.xml:1:18: error: no element in this file");
}

std::string with(const std::string& declarations, const std::string& benchmark) {
  return "<!DOCTYPE jube [" + declarations + "]>\n<jube>" + benchmark + "</jube>";
}

struct EntityCase {
  std::string name;
  std::string declarations;
  std::string benchmark;
  std::string expected;
};

class EntitiesTest : public testing::TestWithParam<EntityCase> {};

TEST_P(EntitiesTest, AreReplaced) {
  EXPECT_EQ(dump_xml(with(GetParam().declarations, GetParam().benchmark)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Xml, EntitiesTest,
    testing::Values(
        EntityCase{"InText", "<!ENTITY nodes '1,2,4'>",
                   "<benchmark><comment>n &nodes;</comment></benchmark>",
                   R"(benchmark(comment("n 1,2,4")))"},
        EntityCase{"InAttributes", "<!ENTITY n \"a 'b'\">",
                   "<benchmark name='&n;' outpath=\"&n;\"/>",
                   "benchmark[name=a 'b' outpath=a 'b']"},
        EntityCase{"QuotesInAttributes", "<!ENTITY q '\"'>", "<benchmark name=\"&q;&q;\"/>",
                   R"(benchmark[name=""])"},
        EntityCase{"OfElements",
                   "<!ENTITY e '<step name=\"s\"><do>&x;</do></step>'><!ENTITY x 'echo'>",
                   "<benchmark>&e;</benchmark>", R"(benchmark(step[name=s](do("echo"))))"},
        EntityCase{"OfEntities", "<!ENTITY a 'x'><!ENTITY b '&a;&a;'><!ENTITY c '[&b;]'>",
                   "<benchmark name='&c;'/>", "benchmark[name=[xx]]"},
        EntityCase{"CharactersAreReplacedWhereTheyAreDeclared",
                   "<!ENTITY e '&#233;'><!ENTITY g '&#x1F600;'><!ENTITY lower '&#38;lt;'>",
                   "<benchmark name='&e;&g;&lower;'/>",
                   "benchmark[name=\xC3\xA9\xF0\x9F\x98\x80<]"},
        EntityCase{"TheFirstDeclarationCounts", "<!ENTITY a 'x'><!ENTITY a 'y'>",
                   "<benchmark name='&a;'/>", "benchmark[name=x]"},
        EntityCase{"BesideOtherDeclarations",
                   "<!-- <!ENTITY a 'no'> ]> --><?p ]> ?>\n<!ELEMENT jube ANY>\n<!ENTITY % p 'q'>\n"
                   "<!ENTITY a ']>'>",
                   "<benchmark name='&a;'/>", "benchmark[name=]>]"},
        EntityCase{"NotInCdataAndComments", "<!ENTITY a 'x'>",
                   "<benchmark><comment><![CDATA[&a; &b;]]><!-- &b; -->&a;</comment></benchmark>",
                   R"(benchmark(comment("&a; &b;x")))"}),
    [](const auto& test) { return test.param.name; });

TEST(Entities, OfOtherFilesAreNotRead) {
  EXPECT_THAT(messages(with("<!ENTITY a SYSTEM '/etc/passwd'>", "<benchmark name='&a;'/>")),
              StartsWith("t.xml:2:24: error: entity '&a;' is in another file, and such files are "
                         "not read\nhint: "));
}

TEST(Entities, MayBeDeclaredForNobody) {
  EXPECT_EQ(dump_xml(with("<!ENTITY a SYSTEM 'x'><!ENTITY b '&c;'>", "<benchmark name='n'/>")),
            "benchmark[name=n]");
}

TEST(Entities, ThatAreNotDeclaredAreErrors) {
  EXPECT_THAT(messages(with("<!ENTITY a '&b;'>", "<benchmark name='&a;'/>")),
              StartsWith("t.xml:1:28: error: unknown entity '&b;'"));
  EXPECT_THAT(messages(with("<!ENTITY a 'x'>", "&A;")),
              StartsWith("t.xml:2:7: error: unknown entity '&A;'"));
}

TEST(Entities, ThatContainThemselvesAreErrors) {
  EXPECT_THAT(messages(with("<!ENTITY a '&b;'><!ENTITY b '&a;'>", "&a;")),
              StartsWith("t.xml:1:28: error: entity '&a;' contains itself"));
}

TEST(Entities, ThatHoldHalfAnElementAreErrors) {
  for (const char* half : {"<step>", "</benchmark>"})
    EXPECT_EQ(
        messages(with(std::string("<!ENTITY a '") + half + "'>", "<benchmark>&a;</benchmark>")),
        "t.xml:2:18: error: this entity opens or closes an element, and does not do both");
}

TEST(Entities, AreLookedForInTheFileEvenIfItNamesAnotherDocumentType) {
  EXPECT_THAT(messages("<!DOCTYPE jube SYSTEM 'jube.dtd'>\n<jube name='&a;'/>"),
              StartsWith("t.xml:2:13: error: unknown entity '&a;'"));
}

TEST(Entities, AreAllThatADocumentTypeAdds) {
  EXPECT_EQ(dump_xml(with("<!ATTLIST benchmark name CDATA 'no' outpath CDATA 'no'>",
                          "<benchmark name='n'/>")),
            "benchmark[name=n]");
}

TEST(Entities, ThatHoldMarkupAreErrorsInAttributes) {
  EXPECT_THAT(messages(with("<!ENTITY a '<do/>'>", "<benchmark name='&a;'/>")),
              StartsWith("t.xml:2:24: error: entity '&a;' holds a '<'"));
}

TEST(Entities, ThatAreMalformedAreErrors) {
  for (const char* declaration : {"<!ENTITY a>", "<!ENTITY>", "<!ENTITY a b>", "<!ENTITY a 'b>"})
    EXPECT_THAT(messages(with(declaration, "")), HasSubstr("error: ")) << declaration;
  EXPECT_EQ(messages(with("<!ENTITY a b>", "")),
            "t.xml:1:17: error: this does not declare an entity\n"
            "hint: write <!ENTITY name \"text\">");
}

TEST(Entities, BombsAreRefused) {
  std::string laughs = "<!ENTITY e0 'ha'>";
  for (int k = 1; k <= 30; ++k) {
    const std::string before = "&e" + std::to_string(k - 1) + ";";
    laughs += "<!ENTITY e" + std::to_string(k) + " '" + before + before + before + "'>";
  }
  EXPECT_THAT(messages(with(laughs, "&e30;")),
              HasSubstr("error: the entities of this file stand for more than 8 MiB of text"));
  const std::string large = "<!ENTITY a '" + std::string(100'000, 'x') + "'>";
  std::string many;
  for (int k = 0; k < 1000; ++k)
    many += "&a;";
  EXPECT_THAT(messages(with(large, many)), HasSubstr("error: the entities of this file stand for"));
}

TEST(Entities, DeepNestingIsRefused) {
  std::string chain = "<!ENTITY e0 'x'>";
  for (int k = 1; k <= 100'000; ++k)
    chain += "<!ENTITY e" + std::to_string(k) + " '&e" + std::to_string(k - 1) + ";'>";
  EXPECT_THAT(messages(with(chain, "&e100000;")),
              HasSubstr("error: more than 500 entities that hold others"));
}

TEST(Entities, PlacesStayThoseOfTheFile) {
  Diagnostics strict(true);
  const Node root = read_xml(with("<!ENTITY a 'much longer than its reference'>",
                                  "<benchmark name='&a;' outpath='o'>\n&s;<step/></benchmark>"
                                  "<!-- -->")
                                 .replace(16, 0, "<!ENTITY s '<step name=\"in\"/>'>"),
                             "t.xml", strict);
  const Node& benchmark = *root.first("benchmark");
  EXPECT_EQ(benchmark.find("name")->place, (Place{"t.xml", 2, 24}));
  EXPECT_EQ(benchmark.find("outpath")->place, (Place{"t.xml", 2, 38}));
  EXPECT_EQ(benchmark.all("step")[0]->place, (Place{"t.xml", 3, 1}));
  EXPECT_EQ(benchmark.all("step")[1]->place, (Place{"t.xml", 3, 4}));
}

/// The bytes of UTF-16 with the byte order mark, if any.
std::string utf16(const std::u16string& text, bool big_endian, bool mark = true) {
  std::string bytes;
  const auto add = [&](char16_t unit) {
    const char high = static_cast<char>(unit >> 8);
    const char low = static_cast<char>(unit & 0xFF);
    bytes += big_endian ? high : low;
    bytes += big_endian ? low : high;
  };
  if (mark)
    add(u'\xFEFF');
  for (const char16_t unit : text)
    add(unit);
  return bytes;
}

const std::u16string file =
    u"<?xml version='1.0' encoding='UTF-16'?>\n<j><benchmark name='\u00e9\u20ac\U0001F600'/></j>";
const std::string tree = "benchmark[name=\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80]";

TEST(XmlEncoding, ReadsUtf16InBothOrders) {
  for (const bool big_endian : {false, true})
    for (const bool mark : {false, true})
      EXPECT_EQ(dump_xml(utf16(file, big_endian, mark)), tree) << big_endian << mark;
}

TEST(XmlEncoding, ReadsUtf16WhateverTheFileIsCalled) {
  const support::TempDirectory directory;
  for (const char* name : {"a.xml", "input"}) {
    write_file_atomically(directory.path() / name, utf16(file, false));
    Diagnostics strict(true);
    EXPECT_EQ(dump_children(read_file(directory.path() / name, strict)), tree);
  }
}

TEST(XmlEncoding, RefusesWhatIsNoUtf16) {
  const std::string hint = "\nhint: save the file as UTF-8";
  EXPECT_EQ(messages(utf16(u"<j>\n\xD800</j>", false)),
            "t.xml:2: error: bytes that are not UTF-16" + hint);
  EXPECT_EQ(messages(utf16(u"<j>\xDC00</j>", true)),
            "t.xml:1: error: bytes that are not UTF-16" + hint);
  EXPECT_EQ(messages(utf16(u"<j/>", true) + "x"),
            "t.xml:1: error: bytes that are not UTF-16" + hint);
  EXPECT_THAT(messages(utf16(u"<j>\x0001</j>", true)),
              StartsWith("t.xml:1:4: error: a control character (0x01)"));
}

TEST(XmlEncoding, ReadsLatin1WhereItIsDeclared) {
  EXPECT_EQ(dump_xml("<?xml version='1.0' encoding='ISO-8859-1'?><j><benchmark name='\xE9'/></j>"),
            "benchmark[name=\xC3\xA9]");
}

TEST(XmlEncoding, RefusesWhatTheFileOnlyDeclares) {
  EXPECT_EQ(messages("<?xml version='1.0' encoding='utf-16'?><j/>"),
            "t.xml:1:1: error: the file declares the encoding 'utf-16' and has another\n"
            "hint: save the file as UTF-8");
  EXPECT_EQ(messages("<?xml version='1.0' encoding='koi8-r'?><j/>"),
            "t.xml:1:1: error: the encoding 'koi8-r' is not supported\n"
            "hint: save the file as UTF-8");
}

}  // namespace
}  // namespace bench::document
