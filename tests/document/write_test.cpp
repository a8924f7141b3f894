#include "support/source_directory.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

/// The values of a parameter: those of a list, or the pieces of its text.
std::string values_of(const Node& parameter) {
  std::vector<std::string> values;
  for (const Node* value : parameter.all("value"))
    values.push_back(value->text);
  if (values.empty() && parameter.get("mode", "text") == "text")
    values = split_values(parameter.text, parameter.get("separator", ","));
  return values.empty() ? parameter.text : join(values, "\n");
}

/// What the tree says, whichever way it is written.
std::string outline(const Node& node) {
  const bool is_parameter = node.name == "parameter";
  std::string text =
      node.name + "{" + (is_parameter ? values_of(node) : std::string(strip(node.text)));
  for (const Attribute& attribute : node.attributes)
    if (!is_parameter || attribute.name != "separator")
      text += " " + (attribute.name == "inferred_type" ? "type" : attribute.name) + "=" +
              attribute.value;
  for (const Node& child : node.children)
    if (child.name != "value")
      text += "\n" + outline(child);
  return text + "}";
}

Node again(const Node& node) {
  Diagnostics diagnostics;
  return read_xml(to_xml(node), "again.xml", diagnostics);
}

TEST(WriteXml, EveryExampleMeansTheSameWhenItIsReadAgain) {
  for (const auto& entry :
       std::filesystem::directory_iterator(support::source_directory() / "examples")) {
    if (entry.path().extension() != ".yaml" && entry.path().extension() != ".xml")
      continue;
    Diagnostics diagnostics;
    const Node read = read_document(entry.path(), {}, diagnostics).root;
    EXPECT_EQ(outline(again(read)), outline(read)) << entry.path();
  }
}

TEST(WriteXml, SpecialCharactersStay) {
  Node root{.name = "jube"};
  root.children.push_back({.name = "benchmark"});
  root.children.back().children.push_back({.name = "comment", .text = "a < b & \"c\"\n\té"});
  root.children.back().attributes.push_back({.name = "outpath", .value = "a\n<'&\">"});
  EXPECT_EQ(outline(again(root)), outline(root));
}

struct ListCase {
  std::string values;
  std::string text;
  std::string separator;
};

TEST(WriteXml, ListsBecomeTextsWithASeparatorThatNoValueHas) {
  for (const ListCase& one :
       {ListCase{"[1, 2]", "1,2", ""}, ListCase{"['a', '']", "a,", ""},
        ListCase{"['1,2']", "1,2", ";"}, ListCase{"['1,2', 'a;b']", "1,2;;a;b", ";;"}}) {
    Diagnostics diagnostics;
    const Node root =
        again(read_yaml("benchmark: {name: b, outpath: o, parameterset: {name: s, parameter: {p: " +
                            one.values + "}}}",
                        "list.yaml", diagnostics));
    const Node& parameter = *root.first("benchmark")->first("parameterset")->first("parameter");
    EXPECT_EQ(parameter.text, one.text);
    EXPECT_EQ(parameter.get("separator"), one.separator);
    EXPECT_TRUE(parameter.children.empty());
  }
}

TEST(Json, GivesTheSameTreeBack) {
  Diagnostics strict(true);
  Node root = read_yaml(
      "name: 'größe \"x\"\\'\n"
      "step: {name: s, do: [\"a\\nb\", {active: true, _: c}]}\n",
      "in.yaml", strict);
  root.children[0].place.file = "other.yaml";
  EXPECT_EQ(from_json(to_json(root)), root);
}

TEST(Json, KeepsEachFileNameOnce) {
  const Node node{.name = "a",
                  .text = "t",
                  .attributes = {{"k", "v", {"f", 1, 2}, {"f", 1, 5}}},
                  .children = {},
                  .place = {"f", 1, 1},
                  .text_place = {"g", 2, 1}};
  EXPECT_EQ(to_json(node), R"({"files":["f","g"],"root":{"name":"a","text":"t","place":[0,1,1],)"
                           R"("text_place":[1,2,1],"attributes":[{"name":"k","value":"v",)"
                           R"("name_place":[0,1,2],"place":[0,1,5]}],"children":[]}})");
}

TEST(Json, RefusesOtherTexts) {
  for (const char* text : {"", "{", "[]", "{\"files\":[],\"root\":{}}", "{\"files\":1}",
                           R"({"files":[],"root":{"name":"a","text":"","place":[0,1,1],)"
                           R"("text_place":[0,1,1],"attributes":[],"children":[]}})"})
    EXPECT_THROW(from_json(text), Error) << text;
}

}  // namespace
}  // namespace bench::document
