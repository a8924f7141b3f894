#include "value.hpp"

#include <bench/base/files.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

class Plain {
 public:
  void fill(const Value& value, Node& node) const {
    if (value.kind == Value::Kind::include)
      throw Error("a file of this kind cannot include others", "", value.mark.place());
    node.text_place = value.mark.place();
    node.text = value.text;
    for (const Entry& entry : value.entries)
      add_all(entry, node);
  }

 private:
  void add_all(const Entry& entry, Node& parent) const {
    if (entry.value->kind != Value::Kind::list) {
      add(entry, *entry.value, parent);
      return;
    }
    for (const ValuePtr& item : entry.value->items)
      add(entry, *item, parent);
  }

  void add(const Entry& entry, const Value& value, Node& parent) const {
    Node& child = parent.children.emplace_back();
    child.name = entry.key;
    child.place = entry.mark.place();
    fill(value, child);
  }
};

}  // namespace

Node read_plain_file(const std::filesystem::path& file) {
  const std::string name = file.string();
  Node root{.name = file.stem().string(), .place = {.file = name, .line = 1, .column = 1}};
  Plain().fill(*parse_yaml(bench::read_file(file), name), root);
  return root;
}

}  // namespace bench::document
