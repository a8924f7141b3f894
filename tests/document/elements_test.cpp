#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/value.hpp>
#include <bench/document/elements.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

using testing::ElementsAre;

TEST(Elements, EveryChildHasARow) {
  for (const ElementKind& parent : all_elements())
    for (const std::string& child : parent.children)
      EXPECT_EQ(element(child).name, child) << parent.name;
}

TEST(Elements, EveryOneAndEveryAttributeSaysWhatItMeans) {
  for (const ElementKind& one : all_elements()) {
    EXPECT_FALSE(one.meaning.empty()) << one.name;
    EXPECT_FALSE(one.example.empty()) << one.name;
    for (const AttributeKind& attribute : one.attributes)
      EXPECT_FALSE(attribute.meaning.empty()) << one.name << " " << attribute.name;
  }
}

bool holds(const Node& node, const std::string& name) {
  return node.name == name || node.find(name) ||
         std::ranges::any_of(node.children, [&](const Node& child) { return holds(child, name); });
}

TEST(Elements, TheirExamplesAreTheLanguage) {
  for (const ElementKind& one : all_elements()) {
    if (one.name == "include")  // stands in XML alone, and in the place of what it includes
      continue;
    Diagnostics diagnostics;
    const Node root = read_yaml(one.example, one.name, diagnostics);
    EXPECT_TRUE(holds(root, one.name)) << one.example;
    EXPECT_EQ(diagnostics.warnings().size(), 0) << one.example;
  }
}

TEST(Elements, AnAttributeWithWordsShowsThemAsItsType) {
  const ElementKind& pattern = element("pattern");
  const auto type = std::ranges::find(pattern.attributes, "type", &AttributeKind::name);
  ASSERT_NE(type, pattern.attributes.end());
  EXPECT_EQ(type->type_text(), "int, float or string");
  const AttributeKind flag{.name = "export", .type = Type::flag};
  EXPECT_EQ(flag.type_text(), "true or false");
}

/// Whether a reader of this attribute takes the text.
bool is_value_of(const AttributeKind& attribute, const std::string& text) {
  if (!attribute.words.empty())
    return std::ranges::find(attribute.words, text) != attribute.words.end();
  switch (attribute.type) {
    case Type::number:
      return parse_integer(text).has_value();
    case Type::flag:
    case Type::condition:
      return text == "true" || text == "false";
    case Type::duration:
      return parse_duration_s(text, {}) > 0;
    default:
      return true;
  }
}

TEST(Elements, EveryDefaultIsAValueOfItsAttribute) {
  for (const ElementKind& one : all_elements())
    for (const AttributeKind& attribute : one.attributes) {
      const std::string& value = attribute.otherwise.value;
      EXPECT_TRUE(value.empty() || is_value_of(attribute, value))
          << one.name << " " << attribute.name;
    }
}

TEST(Elements, KnowTheirParents) {
  EXPECT_THAT(parents_of(element("use")), ElementsAre("step", "analyser", "result"));
}

}  // namespace
}  // namespace bench::document
