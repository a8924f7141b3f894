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

using testing::HasSubstr;
using testing::StartsWith;

std::string with(const std::string& declarations, const std::string& benchmark) {
  return "<!DOCTYPE jube [" + declarations + "]>\n<jube>" + benchmark + "</jube>";
}

struct EntityCase {
  std::string name;
  std::string declarations;
  std::string benchmark;
  std::string expected;
};
void PrintTo(const EntityCase& c, std::ostream* out) {
  *out << c.name;
}

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

/// What a user sees of a text in a file that does not exist.
std::string entity_error(const std::string& xml) {
  Diagnostics diagnostics;
  return support::error_of([&] { read_xml(xml, "t.xml", diagnostics); });
}

TEST(Entities, OfOtherFilesAreNotRead) {
  EXPECT_THAT(entity_error(with("<!ENTITY a SYSTEM '/etc/passwd'>", "<benchmark name='&a;'/>")),
              StartsWith("t.xml:2:24: error: entity '&a;' is in another file, and such files are "
                         "not read\nhint: "));
}

TEST(Entities, MayBeDeclaredForNobody) {
  EXPECT_EQ(dump_xml(with("<!ENTITY a SYSTEM 'x'><!ENTITY b '&c;'>", "<benchmark name='n'/>")),
            "benchmark[name=n]");
}

TEST(Entities, ThatAreNotDeclaredAreErrors) {
  EXPECT_THAT(entity_error(with("<!ENTITY a '&b;'>", "<benchmark name='&a;'/>")),
              StartsWith("t.xml:1:28: error: unknown entity '&b;'"));
  EXPECT_THAT(entity_error(with("<!ENTITY a 'x'>", "&A;")),
              StartsWith("t.xml:2:7: error: unknown entity '&A;'"));
}

TEST(Entities, ThatContainThemselvesAreErrors) {
  EXPECT_THAT(entity_error(with("<!ENTITY a '&b;'><!ENTITY b '&a;'>", "&a;")),
              StartsWith("t.xml:1:28: error: entity '&a;' contains itself"));
}

TEST(Entities, ThatHoldHalfAnElementAreErrors) {
  for (const char* half : {"<step>", "</benchmark>"})
    EXPECT_EQ(
        entity_error(with(std::string("<!ENTITY a '") + half + "'>", "<benchmark>&a;</benchmark>")),
        "t.xml:2:18: error: this entity opens or closes an element, and does not do both");
}

TEST(Entities, AreLookedForInTheFileEvenIfItNamesAnotherDocumentType) {
  EXPECT_THAT(entity_error("<!DOCTYPE jube SYSTEM 'jube.dtd'>\n<jube name='&a;'/>"),
              StartsWith("t.xml:2:13: error: unknown entity '&a;'"));
}

TEST(Entities, AreAllThatADocumentTypeAdds) {
  EXPECT_EQ(dump_xml(with("<!ATTLIST benchmark name CDATA 'no' outpath CDATA 'no'>",
                          "<benchmark name='n'/>")),
            "benchmark[name=n]");
}

TEST(Entities, ThatHoldMarkupAreErrorsInAttributes) {
  EXPECT_THAT(entity_error(with("<!ENTITY a '<do/>'>", "<benchmark name='&a;'/>")),
              StartsWith("t.xml:2:24: error: entity '&a;' holds a '<'"));
}

TEST(Entities, ThatAreMalformedAreErrors) {
  for (const char* declaration : {"<!ENTITY a>", "<!ENTITY>", "<!ENTITY a b>", "<!ENTITY a 'b>"})
    EXPECT_THAT(entity_error(with(declaration, "")), HasSubstr("error: ")) << declaration;
  EXPECT_EQ(entity_error(with("<!ENTITY a b>", "")),
            "t.xml:1:17: error: this does not declare an entity\n"
            "hint: write <!ENTITY name \"text\">");
}

TEST(Entities, BombsAreRefused) {
  std::string laughs = "<!ENTITY e0 'ha'>";
  for (int k = 1; k <= 30; ++k) {
    const std::string before = "&e" + std::to_string(k - 1) + ";";
    laughs += "<!ENTITY e" + std::to_string(k) + " '" + before + before + before + "'>";
  }
  EXPECT_THAT(entity_error(with(laughs, "&e30;")),
              HasSubstr("error: the entities of this file stand for more than 8 MiB of text"));
  const std::string large = "<!ENTITY a '" + std::string(100'000, 'x') + "'>";
  std::string many;
  for (int k = 0; k < 1000; ++k)
    many += "&a;";
  EXPECT_THAT(entity_error(with(large, many)),
              HasSubstr("error: the entities of this file stand for"));
}

TEST(Entities, DeepNestingIsRefused) {
  std::string chain = "<!ENTITY e0 'x'>";
  for (int k = 1; k <= 100'000; ++k)
    chain += "<!ENTITY e" + std::to_string(k) + " '&e" + std::to_string(k - 1) + ";'>";
  EXPECT_THAT(entity_error(with(chain, "&e100000;")),
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

}  // namespace
}  // namespace bench::document
