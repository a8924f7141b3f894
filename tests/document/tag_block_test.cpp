#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/error_of.hpp>
#include <support/temp_directory.hpp>

#include <bench/base/diagnostics.hpp>
#include <bench/document/read.hpp>
#include <bench/document/tags.hpp>

namespace bench::document {
namespace {

class TagBlock : public testing::Test {
 protected:
  Document read(const std::string& yaml, const std::set<std::string>& tags = {}) const {
    Diagnostics strict(true);
    return read_document(files.write("in.yaml", "name: d\n" + yaml), {.tags = tags}, strict);
  }
  /// The first line of the error, without the file.
  std::string error(const std::string& yaml, const std::set<std::string>& tags = {}) const {
    const Document document = read(yaml, tags);
    const std::string text = support::error_of([&] { check_tags(document, {"known"}); });
    const auto begin = text.find("in.yaml:");
    return begin == std::string::npos ? text : text.substr(begin, text.find('\n') - begin);
  }
  support::TempDirectory files;
};

TEST_F(TagBlock, DescriptionsAreRead) {
  const auto found =
      tag_descriptions(read("tags: {tag: [{name: a, _: \" one \"}, {name: b, _: two}]}\n").root);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "a");
  EXPECT_EQ(found[0].text, "one");
  EXPECT_EQ(found[1].name, "b");
}

TEST_F(TagBlock, ChecksHoldTogether) {
  for (const char* yaml : {"tags: {check_tags: [a|b, \"!c\"]}\n", "check_tags: [a|b, \"!c\"]\n",
                           "tags: {check_tags: a|b}\ncheck_tags: \"!c\"\n"}) {
    EXPECT_EQ(error(yaml, {"a"}), "(no error)");
    EXPECT_THAT(error(yaml, {"a", "c"}), testing::EndsWith("error: the tags must fulfil: not c"));
    EXPECT_THAT(error(yaml), testing::EndsWith("error: the tags must fulfil: a or b"));
  }
}

TEST_F(TagBlock, SaysTheExpressionInWords) {
  EXPECT_EQ(error("check_tags: \"(a^b) + !c|d\"\n"),
            "in.yaml:2:13: error: the tags must fulfil: (a xor b) and not c or d");
}

TEST_F(TagBlock, ChecksOfOtherTagsDoNotCount) {
  EXPECT_EQ(error("check_tags: {tag: x, _: a}\n"), "(no error)");
}

TEST_F(TagBlock, RefusesAnEmptyDescription) {
  EXPECT_EQ(error("tags: {tag: {name: a, _: }}\ncomment: {tag: a}\n"),
            "in.yaml:2:13: error: the description of tag 'a' is empty");
}

TEST_F(TagBlock, RefusesADescriptionOfATagThatNothingHas) {
  EXPECT_EQ(error("tags: {tag: {name: a, _: x}}\ncomment: {tag: b}\n"),
            "in.yaml:2:13: error: tag 'a' is described, but selects nothing");
  EXPECT_EQ(error("tags: {tag: {name: known, _: x}}\n"), "(no error)");
}

TEST_F(TagBlock, AParameterOfModeTagUsesItsTag) {
  EXPECT_EQ(error("tags: {tag: {name: a, _: x}}\n"
                  "parameterset: {name: p, parameter: {n: {mode: tag, _: a}}}\n"),
            "(no error)");
}

TEST_F(TagBlock, KnowsEveryTagThatIsMentioned) {
  EXPECT_EQ(known_tags(read("tags: {check_tags: a|!b, tag: {name: c, _: x}}\ncomment: {tag: d}\n"
                            "parameterset: {name: p, parameter: {n: {mode: tag, _: e}}}\n")),
            (std::set<std::string>{"a", "b", "c", "d", "e"}));
}

TEST_F(TagBlock, RefusesADoubledDescription) {
  EXPECT_EQ(error("tags: {tag: [{name: a, _: x}, {name: a, _: y}]}\ncomment: {tag: a}\n"),
            "in.yaml:2:31: error: tag 'a' is described twice");
}

TEST_F(TagBlock, RefusesATagWithoutDescriptionIfForced) {
  const std::string rest = "tag: {name: a, _: x}}\ncomment: {tag: a|b}\n";
  EXPECT_EQ(error("tags: {forced: true, " + rest),
            "in.yaml:2:7: error: tag 'b' has no description");
  EXPECT_EQ(error("tags: {forced: false, " + rest), "(no error)");
  EXPECT_EQ(error("tags: {forced: si, " + rest),
            "in.yaml:2:16: error: forced is true or false, not 'si'");
}

}  // namespace
}  // namespace bench::document
