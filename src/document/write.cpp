#include <algorithm>
#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include <bench/base/error.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

/// A separator that is in none of the values. One exists, since it may be any length.
std::string separator_for(const std::vector<const Node*>& values) {
  std::string separator = ",";
  const auto is_used = [&](const Node* value) {
    return value->text.find(separator) != std::string::npos;
  };
  if (std::ranges::any_of(values, is_used))
    for (separator = ";"; std::ranges::any_of(values, is_used);)
      separator += ";";
  return separator;
}

/// A parameter with a list of values, which XML writes as one text.
Node with_one_text(const Node& parameter) {
  const std::vector<const Node*> values = parameter.all("value");
  Node made = parameter;
  made.children.clear();
  const std::string separator = separator_for(values);
  for (std::size_t k = 0; k < values.size(); ++k)
    made.text += (k > 0 ? separator : "") + std::string(strip(values[k]->text));
  std::erase_if(made.attributes, [](const Attribute& one) { return one.name == "separator"; });
  if (separator != ",")
    made.attributes.push_back({.name = "separator", .value = separator});
  return made;
}

void write(const Node& node, pugi::xml_node parent) {
  static const Regex xml_name("\\A[A-Za-z_][A-Za-z0-9_.-]*\\z");
  if (node.name == "parameter" && node.first("value"))
    return write(with_one_text(node), parent);
  pugi::xml_node element = parent.append_child(node.name.c_str());
  for (const Attribute& attribute : node.attributes) {
    const std::string name = attribute.name == "inferred_type" ? "type" : attribute.name;
    if (xml_name.search(name))
      element.append_attribute(name.c_str()).set_value(attribute.value.c_str());
  }
  if (!node.text.empty())
    element.append_child(pugi::node_pcdata).set_value(node.text.c_str());
  for (const Node& child : node.children)
    write(child, element);
}

}  // namespace

std::string to_xml(const Node& node) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version").set_value("1.0");
  declaration.append_attribute("encoding").set_value("UTF-8");
  write(node, document);
  std::ostringstream text;
  document.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
  return text.str();
}

namespace {

using Json = nlohmann::ordered_json;

// A place is [file, line, column], the file an index into the list `files` of the whole text.

/// The files of the places, each once.
class Files {
 public:
  Json write(const Place& place) {
    if (names_.empty() || names_[last_] != place.file)
      last_ = index_of(place.file);
    return Json::array({last_, place.line, place.column});
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::size_t index_of(const std::string& file) {
    for (std::size_t k = 0; k < names_.size(); ++k)
      if (names_[k] == file)
        return k;
    names_.push_back(file);
    return names_.size() - 1;
  }

  std::vector<std::string> names_;
  std::size_t last_ = 0;
};

Json write(const Node& node, Files& files) {
  Json attributes = Json::array();
  for (const Attribute& attribute : node.attributes)
    attributes.push_back({{"name", attribute.name},
                          {"value", attribute.value},
                          {"name_place", files.write(attribute.name_place)},
                          {"place", files.write(attribute.place)}});
  Json children = Json::array();
  for (const Node& child : node.children)
    children.push_back(write(child, files));
  return {{"name", node.name},
          {"text", node.text},
          {"place", files.write(node.place)},
          {"text_place", files.write(node.text_place)},
          {"attributes", std::move(attributes)},
          {"children", std::move(children)}};
}

using Names = std::vector<std::string>;
constexpr int deepest = 1000;

[[noreturn]] void fail() {
  throw Error(Id::damaged_data, "the workspace holds an input that cannot be read",
              "it is damaged, or was not written by bench");
}

Place read_place(const Json& json, const Names& files) {
  return Place{files.at(json.at(0).get<std::size_t>()), json.at(1).get<int>(),
               json.at(2).get<int>()};
}

/// @param depth how many levels may lie below: more have no input file, and no stack would hold
/// them
Node read(const Json& json, const Names& files, int depth) {
  if (depth < 0)
    fail();
  Node node;
  node.name = json.at("name").get<std::string>();
  node.text = json.at("text").get<std::string>();
  node.place = read_place(json.at("place"), files);
  node.text_place = read_place(json.at("text_place"), files);
  for (const Json& attribute : json.at("attributes"))
    node.attributes.push_back(
        {attribute.at("name").get<std::string>(), attribute.at("value").get<std::string>(),
         read_place(attribute.at("name_place"), files), read_place(attribute.at("place"), files)});
  for (const Json& child : json.at("children"))
    node.children.push_back(read(child, files, depth - 1));
  return node;
}

}  // namespace

std::string to_json(const Node& node) {
  Files files;
  Json root = write(node, files);
  // A file's name may hold any bytes; the texts are UTF-8.
  return Json{{"files", files.names()}, {"root", std::move(root)}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

Node from_json(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    return read(json.at("root"), json.at("files").get<Names>(), deepest);
  } catch (const nlohmann::json::exception&) {
    fail();
  } catch (const std::out_of_range&) {
    fail();
  }
}

}  // namespace bench::document
