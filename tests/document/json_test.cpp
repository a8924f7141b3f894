#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

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
