#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <bench/document/elements.hpp>

namespace bench::document {
namespace {

using Json = nlohmann::ordered_json;

Json reference(const std::string& name) {
  return {{"$ref", "#/$defs/" + name}};
}

Json any_of(std::initializer_list<Json> choices) {
  return {{"anyOf", Json(std::vector<Json>(choices))}};
}

/// One, a list of them, or a list with such lists in it.
Json one_or_list(const Json& one) {
  const Json list = {{"type", "array"}, {"items", one}};
  return any_of({one, {{"type", "array"}, {"items", any_of({one, list})}}});
}

Json described(Json schema, const std::string& meaning) {
  schema["description"] = meaning;
  return schema;
}

/// A mapping with these keys and private ones.
Json mapping(Json keys) {
  return {{"type", "object"},
          {"properties", std::move(keys)},
          {"patternProperties", {{"^x-", Json::object()}}},
          {"additionalProperties", false}};
}

Json value_of(const AttributeKind& attribute) {
  if (!attribute.words.empty())
    return {{"enum", attribute.words}};
  if (attribute.type == Type::values)
    return any_of(
        {reference("texts"), {{"type", "object"}, {"additionalProperties", reference("scalar")}}});
  return reference("texts");
}

/// The keys of one element.
Json keys_of(const ElementKind& kind) {
  Json keys = Json::object();
  for (const AttributeKind& key : kind.attributes)
    keys[key.name] = described(value_of(key), key.meaning);
  for (const std::string& child : kind.children)
    keys[child] = described(reference(child + "-list"), element(child).meaning);
  if (kind.has_text)
    keys["_"] = described(reference("texts"), "the content");
  if (kind.has_attribute("tag") && !kind.has_child("tag"))
    keys["tag"] =
        described(reference("scalar"), "a tag expression; if false, the element does not exist");
  return keys;
}

/// `{n: [1, 2], m: {type: int, _: 3}}`, or one parameter with its `name`.
Json parameter(const ElementKind& kind) {
  Json named = mapping(keys_of(kind));
  named["required"] = {"name"};
  Json settings = keys_of(kind);
  settings.erase("name");
  Json shortened = {{"type", "object"},
                    {"properties", {{"tag", reference("scalar")}, {"name", false}, {"_", false}}},
                    {"patternProperties", {{"^x-", Json::object()}}},
                    {"additionalProperties", any_of({reference("texts"), mapping(settings)})}};
  return described(any_of({named, shortened}), kind.meaning);
}

Json definition(const ElementKind& kind) {
  if (kind.name == "parameter")
    return parameter(kind);
  const Json keys = mapping(keys_of(kind));
  return described(kind.has_text ? any_of({reference("scalar"), keys}) : keys, kind.meaning);
}

void define(const ElementKind& kind, Json& definitions) {
  for (const std::string& name : kind.children) {
    if (definitions.contains(name))
      continue;
    const ElementKind& child = element(name);
    definitions[name] = definition(child);
    definitions[name + "-list"] = one_or_list(reference(name));
    define(child, definitions);
  }
}

}  // namespace

std::string schema() {
  const ElementKind& top = element("jube");
  Json definitions;
  definitions["scalar"] = {{"type", {"string", "number", "boolean", "null"}}};
  definitions["texts"] = one_or_list(reference("scalar"));
  define(top, definitions);

  Json wrapped = mapping(keys_of(top));
  wrapped["required"] = {"benchmark"};
  Json keys = keys_of(element("benchmark"));
  keys.erase("tag");  // of the file's top, which no tag removes
  const Json shared = keys_of(top);
  for (const auto& [name, schema_of_key] : shared.items())
    if (name != "benchmark" && !keys.contains(name))
      keys[name] = schema_of_key;

  Json root = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", "bench input file"},
               {"description", top.meaning}};
  root.update(
      any_of({wrapped, mapping(keys), {{"type", "array"}, {"items", reference("benchmark")}}}));
  root["$defs"] = std::move(definitions);
  return root.dump(2);
}

}  // namespace bench::document
