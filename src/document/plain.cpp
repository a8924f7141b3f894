#include "value.hpp"

#include <bench/base/files.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

class Plain {
 public:
  explicit Plain(std::string file) : file_(std::move(file)) {}

  void fill(const Value& value, Node& node) const {
    node.text_place = place(value.mark);
    node.text = value.text;
    for (const Entry& entry : value.entries)
      add_all(entry, node);
  }

 private:
  Place place(const Mark& mark) const { return {file_, mark.line, mark.column}; }

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
    child.place = place(entry.mark);
    fill(value, child);
  }

  std::string file_;
};

}  // namespace

Node read_plain_file(const std::filesystem::path& file) {
  const std::string name = file.string();
  Node root{.name = file.stem().string(), .place = {.file = name, .line = 1, .column = 1}};
  Plain(name).fill(*parse_yaml(bench::read_file(file), name), root);
  return root;
}

}  // namespace bench::document
