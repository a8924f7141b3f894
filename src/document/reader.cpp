#include "reader.hpp"

#include "convert_xml.hpp"
#include "include_path.hpp"
#include "value.hpp"
#include "xml_file.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/document/read_options.hpp>
#include <bench/document/tags.hpp>

namespace bench::document {
namespace {

namespace fs = std::filesystem;

using Kind = Value::Kind;

/// One `["key"]` or `[0]`.
struct Step {
  std::string text;
  bool quoted = false;
};

/// The steps of a whole text like `["a"][0]`; nothing if it is anything else.
std::optional<std::vector<Step>> parse_steps(std::string_view text) {
  std::vector<Step> steps;
  for (text = strip(text); !text.empty(); text = strip(text)) {
    if (!text.starts_with('['))
      return std::nullopt;
    text = strip(text.substr(1));
    Step step;
    const char quote = text.empty() ? ']' : text.front();
    step.quoted = quote == '"' || quote == '\'';
    const auto end = step.quoted ? text.find(quote, 1) : text.find(']');
    if (end == std::string_view::npos)
      return std::nullopt;
    step.text = step.quoted ? text.substr(1, end - 1) : strip(text.substr(0, end));
    text = strip(text.substr(step.quoted ? end + 1 : end));
    if (!text.starts_with(']') || (!step.quoted && !parse_integer(step.text)))
      return std::nullopt;
    text.remove_prefix(1);
    steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<std::string> keys_of(const Value& mapping) {
  std::vector<std::string> keys;
  for (const Entry& entry : mapping.entries)
    keys.push_back(entry.key);
  return keys;
}

/// Puts what is included in place of each `!include FILE[:SELECT]`. SELECT is a chain of
/// `["key"]`, `['key']` and `[number]`. Only what is selected of a file is looked at further, so a
/// file may include a part of itself.
class YamlIncludes {
 public:
  /// @param path must outlive this object; later additions to it count
  explicit YamlIncludes(const IncludePath& path) : path_(path) {}

  /// The value with all its includes resolved; itself where it has none.
  /// @throws Error with the place: a file that is absent or no YAML, a key or item that it lacks,
  ///         an include that contains itself, more than the bounds on size and depth
  ValuePtr resolve(const ValuePtr& value) {
    if (value->kind == Kind::null || value->kind == Kind::text)
      return value;
    if (const auto known = resolved_.find(value.get()); known != resolved_.end())
      return known->second;
    ValuePtr made = value->kind == Kind::include ? resolve_include(*value) : rebuild(*value);
    kept_.push_back(value);
    resolved_[value.get()] = made ? made : value;
    return made ? made : value;
  }

 private:
  struct Request {
    std::string file;
    std::vector<Step> steps;
    Place place;

    std::string selection() const {
      std::string text;
      for (const Step& step : steps)
        text += step.quoted ? fmt::format("['{}']", step.text) : fmt::format("[{}]", step.text);
      return text;
    }
  };

  /// The list or mapping with its parts resolved; null where that changes nothing.
  ValuePtr rebuild(const Value& value) {
    auto made = std::make_shared<Value>(value);
    bool changed = false;
    made->nodes = weight(value.text);
    made->depth = 1;
    const auto take = [&](ValuePtr& part) {
      const ValuePtr resolved = resolve(part);
      changed = changed || resolved != part;
      part = resolved;
      made->nodes += part->nodes;
      made->depth = std::max(made->depth, part->depth + 1);
      if (made->nodes > max_nodes)
        throw Error(Id::too_large, "more than 1,000,000 values once the includes are expanded", "",
                    value.mark.place());
      if (made->depth > max_depth)
        throw Error(Id::too_large, fmt::format("nested more than {} levels deep", max_depth), "",
                    value.mark.place());
    };
    for (ValuePtr& item : made->items)
      take(item);
    for (Entry& entry : made->entries)
      take(entry.value);
    return changed ? made : nullptr;
  }

  ValuePtr resolve_include(const Value& include) {
    const Request request = parse(include);
    const fs::path file = path_.find(request.file, request.place);
    const std::pair wanted{identity(file), request.selection()};
    if (std::ranges::find(open_, wanted) != open_.end())
      throw Error(Id::include_failed, fmt::format("'{}' includes itself", include.text),
                  "a file may include another part of itself, but no part its own whole",
                  request.place);
    open_.push_back(wanted);
    ValuePtr included = resolve(select(load(file), request));
    open_.pop_back();
    return included;
  }

  ValuePtr load(const fs::path& file) {
    ValuePtr& loaded = files_[identity(file)];
    if (!loaded)
      loaded = parse_yaml(read_limited(file, max_file_bytes), file.string());
    return loaded;
  }

  /// FILE, FILE:SELECT or FILE:SELECT:COMPREHENSION; the last only where it selects no more.
  static Request parse(const Value& include) {
    std::vector<std::string> parts = split(include.text, ":");
    Request request{
        .file = std::string(strip(parts[0])), .steps = {}, .place = include.mark.place()};
    const auto fail = [&](const std::string& part) {
      throw Error(
          Id::include_failed, fmt::format("cannot include '{}' of a file", strip(part)),
          R"(write !include FILE:["key"][0], with the wanted items under a key of their own)",
          request.place);
    };
    if (parts.size() > 3)
      fail(include.text.substr(include.text.find(':') + 1));
    for (std::size_t k = 1; k < parts.size(); ++k) {
      std::string_view part = strip(parts[k]);
      if (k == 2 && part.starts_with('_'))
        part.remove_prefix(1);  // the selected value itself
      const auto steps = parse_steps(part);
      if (!steps)
        fail(parts[k]);
      request.steps.insert(request.steps.end(), steps->begin(), steps->end());
    }
    return request;
  }

  ValuePtr select(ValuePtr value, const Request& request) {
    for (const Step& step : request.steps) {
      value = value->kind == Kind::include ? resolve(value) : value;
      if (value->kind == Kind::mapping) {
        const Entry* entry = value->entry(step.text);
        if (!entry)
          throw Error(Id::include_failed,
                      fmt::format("'{}' has no key '{}'", request.file, step.text),
                      did_you_mean(step.text, keys_of(*value)), request.place);
        value = entry->value;
        continue;
      }
      if (value->kind != Kind::list || step.quoted)
        throw Error(Id::include_failed,
                    fmt::format("'{}' cannot be selected from a {}", step.text,
                                value->kind == Kind::list ? "list" : "text"),
                    "", request.place);
      const auto size = static_cast<long long>(value->items.size());
      const long long wanted = parse_integer(step.text).value();
      const long long index = wanted < 0 ? wanted + size : wanted;
      if (index < 0 || index >= size)
        throw Error(Id::include_failed,
                    fmt::format("there is no item [{}] in a list of {}", wanted, size), "",
                    request.place);
      value = value->items[static_cast<std::size_t>(index)];
    }
    return value;
  }

  const IncludePath& path_;
  std::map<std::filesystem::path, ValuePtr> files_;
  std::unordered_map<const Value*, ValuePtr> resolved_;
  std::vector<ValuePtr> kept_;  ///< The keys of `resolved_` stay alive.
  std::vector<std::pair<std::filesystem::path, std::string>> open_;  ///< What is being included.
};

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
  const UnknownElement unknown = is_input_ ? UnknownElement::refused : UnknownElement::left_out;
  const XmlFile file(text, name);
  Diagnostics said_later;
  std::set<std::string> named_later;
  take_head(convert_xml(file, path, active_, unknown, said_later, named_later, head_names), name,
            path);
  return convert_xml(file, path, active_, unknown, diagnostics_, tag_names_);
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
