#include <algorithm>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <bench/document/elements.hpp>

namespace bench::document {
namespace {

using Json = nlohmann::json;

/// As much of JSON Schema as this schema uses.
class Validator {
 public:
  bool accepts(const Json& instance) const { return fits(instance, schema_); }
  const Json& root() const { return schema_; }

 private:
  bool fits(const Json& instance, const Json& schema) const {
    if (schema.is_boolean())
      return schema.get<bool>();
    if (schema.contains("$ref")) {
      const auto pointer = schema["$ref"].get<std::string>().substr(1);
      if (!fits(instance, schema_.at(Json::json_pointer(pointer))))
        return false;
    }
    if (schema.contains("type") && !has_type(instance, schema["type"]))
      return false;
    if (schema.contains("anyOf") && std::ranges::none_of(schema["anyOf"], [&](const Json& choice) {
          return fits(instance, choice);
        }))
      return false;
    if (instance.is_array() && schema.contains("items"))
      return std::ranges::all_of(instance,
                                 [&](const Json& item) { return fits(item, schema["items"]); });
    return !instance.is_object() || fits_keys(instance, schema);
  }

  bool fits_keys(const Json& instance, const Json& schema) const {
    for (const Json& key : schema.value("required", Json::array()))
      if (!instance.contains(key.get<std::string>()))
        return false;
    const Json keys = schema.value("properties", Json::object());
    const Json others = schema.value("additionalProperties", Json(true));
    for (const auto& [key, value] : instance.items()) {
      const bool is_private = schema.contains("patternProperties") && key.starts_with("x-");
      if (!is_private && !fits(value, keys.contains(key) ? keys[key] : others))
        return false;
    }
    return true;
  }

  static bool has_type(const Json& instance, const Json& types) {
    const std::string name = instance.type_name();  // object, array, string, boolean, null, number
    return types.is_array() ? std::ranges::find(types, Json(name)) != types.end() : types == name;
  }

  Json schema_ = Json::parse(schema());
};

class SchemaShapes : public testing::TestWithParam<const char*> {};

TEST_P(SchemaShapes, AreAccepted) {
  EXPECT_TRUE(Validator().accepts(Json::parse(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(
    Good, SchemaShapes,
    testing::Values(
        R"({"name": "demo", "outpath": "runs", "step": {"name": "hello", "do": "echo hi"}})",
        R"({"parameterset": {"name": "g", "parameter": {"name": "a", "_": 1}},
            "benchmark": [{"name": "b1", "step": {"name": "s", "use": "g", "do": "x"}}, {}]})",
        R"([{"name": "b1"}, {"name": "b2", "step": [{"name": "s"}, {"name": "t"}]}])",
        R"({"x-anchors": {"any": [1]}, "include-path": "a", "selection": {"tag": ["a", "b"]}})",
        R"({"include-path": [{"path": "a"}, {"tag": "t", "_": "b"}]})",
        R"({"step": {"do": ["a", ["b", "c"], {"active": true, "_": ["d", "e"]}], "use": null}})",
        R"({"step": {"name": "s", "depend": ["a", "b"], "batch": true, "energy": {"methods": "a"}}})",
        R"({"parameterset": {"parameter": {"n": [1, 2], "tag": "t", "m": {"type": "int", "_": 3}}}})",
        R"({"parameterset": {"parameter": [{"name": "n", "_": 1}, {"k": "v"}]}})",
        R"({"tags": {"forced": true, "check_tags": ["a"], "tag": [{"name": "a", "_": "text"}]}})"));

class SchemaMistakes : public testing::TestWithParam<const char*> {};

TEST_P(SchemaMistakes, AreRefused) {
  EXPECT_FALSE(Validator().accepts(Json::parse(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(
    Bad, SchemaMistakes,
    testing::Values(R"("text")", R"({"stepp": {"name": "s"}})", R"({"step": {"nmae": "s"}})",
                    R"({"benchmark": {"name": "b"}, "step": {"name": "s"}})",
                    R"({"parameterset": {"parameter": {"name": "a", "seperator": ";", "_": 1}}})",
                    R"({"parameterset": {"parameter": {"a": {"typ": "int", "_": 1}}}})",
                    R"({"step": {"do": {"_": {"a": 1}}}})", R"({"step": {"retry": {"tims": 3}}})"));

void collect_references(const Json& json, std::set<std::string>& names) {
  if (json.is_object() && json.contains("$ref"))
    names.insert(json["$ref"].get<std::string>());
  if (json.is_structured())
    for (const Json& inner : json)
      collect_references(inner, names);
}

TEST(Schema, HasWhatItRefersTo) {
  const Validator validator;
  std::set<std::string> names;
  collect_references(validator.root(), names);
  EXPECT_GT(names.size(), 30U);
  for (const std::string& name : names)
    EXPECT_TRUE(validator.root().contains(Json::json_pointer(name.substr(1)))) << name;
}

TEST(Schema, ExplainsEveryKey) {
  const Validator validator;
  for (const auto& [name, definition] : validator.root().at("$defs").items()) {
    const Json keys = definition.value("properties", Json::object());
    for (const auto& [key, value] : keys.items())
      EXPECT_FALSE(value.value("description", "").empty()) << name << "." << key;
  }
}

}  // namespace
}  // namespace bench::document
