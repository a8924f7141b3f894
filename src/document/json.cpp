#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/error.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
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
