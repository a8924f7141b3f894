#include "reader.hpp"

#include "convert.hpp"
#include "convert_xml.hpp"
#include "include_path.hpp"
#include "xml_file.hpp"
#include "yaml_includes.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/base/below.hpp>
#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/read_options.hpp>
#include <bench/document/tags.hpp>
#include <bench/document/value.hpp>
#include <bench/document/xml_encoding.hpp>

namespace bench::document {
namespace {

namespace fs = std::filesystem;

/// By the name, else by the first byte that is not blank.
bool is_xml_file(const fs::path& file, std::string_view text) {
  const std::string extension = to_lower(file.extension().string());
  if (extension == ".yaml" || extension == ".yml")
    return false;
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark))
    text.remove_prefix(byte_order_mark.size());
  return extension == ".xml" || strip(text).starts_with('<') || is_utf16(text);
}

/// `# yaml-language-server: $schema=bench.schema.json`: an editor checks the file for bench.
bool names_schema(std::string_view text) {
  const auto at = text.find("$schema=");
  if (at == std::string_view::npos)
    return false;
  const auto begin = text.rfind('\n', at) + 1;
  const std::string_view line = text.substr(begin, text.find('\n', at) - begin);
  return strip(line).starts_with('#') && line.find("bench", at - begin) != std::string_view::npos;
}

/// What must be known before includes can be found.
const std::vector<std::string> head_names = {"include-path", "selection"};

ValuePtr head_of(const Value& top) {
  auto head = std::make_shared<Value>();
  head->kind = Value::Kind::mapping;
  head->mark = top.mark;
  for (const std::string& name : head_names)
    if (const Entry* entry = top.entry(name))
      head->entries.push_back(*entry);
  return head;
}

}  // namespace

Reader::Reader(const ReadOptions& options, Diagnostics& diagnostics)
    : options_(options), diagnostics_(diagnostics), active_(options.tags) {}

Loaded Reader::input(const fs::path& file) {
  const std::string text = read_limited(file, max_file_bytes);
  return input_text(text, file, is_xml_file(file, text));
}

Loaded Reader::input_text(const std::string& text, const fs::path& name, bool is_xml) {
  Loaded loaded{.root = {}, .file = name, .path = IncludePath(options_, name)};
  loaded.root = read(text, name.string(), is_xml, loaded.path);
  take_selected_tags(loaded.root);  // again: includes may bring more
  return loaded;
}

const Loaded& Reader::other(const std::string& name, const Loaded& from, const Place& place) {
  const fs::path file = from.path.find(name, place);
  const fs::path key = identity(file);
  if (const auto known = others_.find(key); known != others_.end())
    return known->second;
  Loaded loaded{.root = {}, .file = file, .path = from.path.within(file)};
  const std::string text = read_limited(file, max_file_bytes);
  is_input_ = false;
  loaded.root = read(text, file.string(), is_xml_file(file, text), loaded.path);
  select_tags(loaded.root, active_);
  return others_.emplace(key, std::move(loaded)).first->second;
}

Node Reader::read(const std::string& text, const std::string& name, bool is_xml,
                  IncludePath& path) {
  Node root = is_xml ? read_xml(text, name, path) : read_yaml(text, name, path);
  tag_names_.merge(document::tag_names(root));
  return root;
}

Node Reader::read_yaml(const std::string& text, const std::string& name, IncludePath& path) {
  const ValuePtr raw = parse_yaml(text, name);
  YamlIncludes includes(path);
  if (raw->kind == Value::Kind::mapping) {
    Diagnostics said_later;
    take_head(convert(*includes.resolve(head_of(*raw)), said_later), name, path);
  }
  return convert(*includes.resolve(raw), diagnostics_, names_schema(text));
}

Node Reader::read_xml(const std::string& text, const std::string& name, IncludePath& path) {
  using Unknown = XmlConverter::Unknown;
  const Unknown unknown = is_input_ ? Unknown::refused : Unknown::left_out;
  const XmlFile file(text, name);
  Diagnostics said_later;
  take_head(XmlConverter(path, active_, said_later, unknown).root(file, head_names), name, path);
  XmlConverter converter(path, active_, diagnostics_, unknown);
  Node root = converter.root(file);
  tag_names_.insert(converter.tag_names().begin(), converter.tag_names().end());
  return root;
}

void Reader::take_head(const Node& head, const std::string& file, IncludePath& path) {
  take_selected_tags(head);
  Node selected = head;
  select_tags(selected, active_);
  for (const Node* entry : selected.all("include-path")) {
    if (const auto directory = strip(entry->text); !directory.empty())
      path.add(std::string(directory), file);
    for (const Node* directory : entry->all("path"))
      path.add(std::string(strip(directory->text)), file);
  }
}

void Reader::take_selected_tags(const Node& root) {
  if (!is_input_)
    return;
  Node selected{.name = root.name};
  for (const Node* selection : root.all("selection"))
    selected.children.push_back(*selection);
  select_tags(selected, active_);
  for (const Node* selection : selected.all("selection"))
    for (const Node* tag : selection->all("tag"))
      for (const std::string& name : split_names(tag->text))
        active_.insert(name);
}

}  // namespace bench::document
