#include "value.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/elements.hpp>
#include <bench/document/node.hpp>

namespace bench::document {
namespace {

using Kind = Value::Kind;

constexpr std::string_view content_key = "_";

bool is_scalar(const Value& value) {
  return value.kind == Kind::text || value.kind == Kind::null;
}

/// Keys for the user's own use, such as a place for anchors.
bool is_private(const std::string& key) {
  return key.starts_with("x-");
}

/// What is on or off: `yes` and `on` are what they look like there.
bool is_flag(std::string_view key) {
  constexpr std::array<std::string_view, 3> words{"batch", "energy", "do_log_file"};
  return std::ranges::find(words, key) != words.end() ||
         std::ranges::any_of(all_elements(), [&](const ElementKind& kind) {
           const AttributeKind* const row = kind.attribute(key);
           return row && (row->type == Type::flag || row->type == Type::condition);
         });
}

/// Elements whose texts often hold a `#`: commands, and texts that are searched for.
bool may_hold_hash(std::string_view element) {
  constexpr std::array<std::string_view, 4> elements{"do", "prepare", "pattern", "sub"};
  return std::ranges::find(elements, element) != elements.end();
}

/// Whether `key: text` reads as an attribute of a parameter, not as a parameter of that name.
bool is_setting(std::string_view key, const std::string& text) {
  const AttributeKind* const row = element("parameter").attribute(key);
  if (!row)
    return false;
  if (row->type == Type::flag)
    return text == "True" || text == "False";
  return key == "separator" || key == "unit" || (key == "type" && text == "str") ||
         std::ranges::find(row->words, text) != row->words.end();
}

/// `step 'train'`: how messages call an element.
std::string title(const ElementKind& kind, const Value& value) {
  if (kind.name == "jube")
    return "the file";
  const Value* name = value.find("name");
  return name && name->kind == Kind::text ? fmt::format("{} '{}'", kind.name, name->text)
                                          : kind.name;
}

class Converter {
 public:
  Converter(Diagnostics& diagnostics, bool is_own) : diagnostics_(diagnostics), is_own_(is_own) {}

  /// Tells the unknown keys, now that it is known for whom the file is written.
  void tell_mistakes(const std::string& file) {
    if (is_own_) {
      diagnostics_.add_own_file(file);
      for (const Warning& mistake : mistakes_)
        diagnostics_.add_own_file(mistake.place.file);
    }
    for (const Warning& mistake : mistakes_)
      diagnostics_.mistake(mistake.id, mistake.message, mistake.hint, mistake.place);
  }

  Node root(const Value& value) {
    if (is_scalar(value))
      throw Error(Id::wrong_structure, "expected a mapping or a list of benchmarks, found a text",
                  "", place(value));
    Value top{.kind = Kind::mapping, .mark = value.mark};
    if (value.kind == Kind::mapping && value.find("benchmark"))
      return mapping(element("jube"), value);
    Node root;
    if (value.kind == Kind::list) {
      root = mapping(element("jube"), top);
      add(root, element("benchmark"), value, value.mark);
      return root;
    }
    Value benchmark{.kind = Kind::mapping, .mark = value.mark};
    for (const Entry& entry : value.entries)
      (is_global(entry.key) ? top : benchmark).entries.push_back(entry);
    root = mapping(element("jube"), top);
    root.children.push_back(mapping(element("benchmark"), benchmark));
    return root;
  }

 private:
  /// True for keys that only the top of a file knows.
  static bool is_global(const std::string& key) {
    const ElementKind& top = element("jube");
    const ElementKind& benchmark = element("benchmark");
    return (top.has_child(key) || top.has_attribute(key)) && !benchmark.has_child(key);
  }

  static Place place(const Mark& mark) { return mark.place(); }
  static Place place(const Value& value) { return value.mark.place(); }

  /// The bound on the parsed values does not hold the copies that `_: [a, b]` makes.
  void count(std::size_t nodes, const Place& where) {
    nodes_ += nodes;
    if (nodes_ > max_nodes)
      throw Error(Id::too_large,
                  "more than 1,000,000 elements and attributes once the lists are expanded", "",
                  where);
  }

  Node node(const std::string& name, const Mark& mark) {
    Node made;
    made.name = name;
    made.place = made.text_place = place(mark);
    return made;
  }

  /// Adds what is below the key of a child element: one element, or one per item.
  void add(Node& parent, const ElementKind& kind, const Value& value, const Mark& key) {
    if (value.kind != Kind::list)
      return add_one(parent, kind, value, key);
    for (const ValuePtr& item : value.items)
      if (item->kind == Kind::list)
        for (const ValuePtr& inner : item->items)
          add_one(parent, kind, *inner, inner->mark);
      else
        add_one(parent, kind, *item, item->mark);
  }

  void add_one(Node& parent, const ElementKind& kind, const Value& value, const Mark& key) {
    if (value.kind == Kind::list)
      throw Error(Id::too_large, "lists are nested too deeply",
                  "a list may hold lists, but no deeper ones", place(value));
    if (is_scalar(value)) {
      Node made = node(kind.name, value.kind == Kind::null ? key : value.mark);
      made.text = value.text;
      warn_of_surprise(value, kind.name);
      warn_of_comment(value, kind.name);
      warn_lost_text(kind, made, kind.name);
      count(1, made.place);
      parent.children.push_back(std::move(made));
    } else if (kind.name == "parameter" && !value.find("name") && !value.find(content_key)) {
      add_short_parameters(parent, value);
    } else {
      add_mapping(parent, kind, value);
    }
  }

  /// `{name: a, _: [x, y]}` is one element per text, each with the same attributes.
  void add_mapping(Node& parent, const ElementKind& kind, const Value& value) {
    Node made = mapping(kind, value);
    const Value* content = value.find(content_key);
    if (kind.name == "parameter")
      warn_no_value(content, made);
    if (!content || content->kind != Kind::list) {
      parent.children.push_back(std::move(made));
      return;
    }
    if (kind.name == "parameter" && content->items.size() > 1 && !made.find("duplicate")) {
      take_values(made, made.get("name"), *content, value.mark);
      parent.children.push_back(std::move(made));
      return;
    }
    if (texts(*content, "'_'").empty())
      throw Error(Id::wrong_structure, fmt::format("{} has an empty list", title(kind, value)),
                  "write '' for one empty text, or remove the element", place(*content));
    std::size_t copied = 1;
    for (const Attribute& attribute : made.attributes)
      copied += weight(attribute.value);
    for (const Value* text : texts(*content, "'_'")) {
      count(copied, made.place);
      set_text(made, *text, text->mark);
      parent.children.push_back(made);
    }
  }

  /// The element of a mapping, its text left out where `_` is a list.
  Node mapping(const ElementKind& kind, const Value& value) {
    Node made = node(kind.name, value.mark);
    const std::string what = title(kind, value);
    count(1 + value.entries.size(), made.place);
    for (const Entry& entry : value.entries)
      if (entry.key != content_key && !is_private(entry.key))
        take_entry(made, kind, entry, what);
    if (const Entry* content = value.entry(content_key))
      take_content(made, *content);
    warn_lost_text(kind, made, what);
    return made;
  }

  void take_content(Node& made, const Entry& entry) {
    if (entry.value->kind == Kind::mapping)
      throw Error(Id::wrong_structure, "'_' takes a text or a list of texts, not a mapping", "",
                  place(entry.mark));
    if (is_scalar(*entry.value))
      set_text(made, *entry.value, entry.mark);
  }

  void set_text(Node& made, const Value& text, const Mark& key) {
    warn_of_surprise(text, "", &made);
    warn_of_comment(text, made.name);
    made.text = text.text;
    made.text_place = place(text.kind == Kind::null ? key : text.mark);
  }

  void take_entry(Node& made, const ElementKind& kind, const Entry& entry,
                  const std::string& what) {
    // What is both, such as `iterations`, is an attribute if it is a text.
    const AttributeKind* const row = kind.attribute(entry.key);
    const bool is_child = kind.has_child(entry.key) && !(row && is_scalar(*entry.value));
    is_own_ = is_own_ || (is_child ? element(entry.key).is_addition : row && row->is_addition);
    if (is_child)
      return add(made, element(entry.key), *entry.value, entry.mark);
    if (entry.value->kind == Kind::mapping && row && row->type == Type::values)
      return made.attributes.push_back(values(entry));
    const bool known = kind.has_attribute(entry.key);
    if (!known)
      mistakes_.push_back({Id::unknown_key, fmt::format("unknown key '{}' in {}", entry.key, what),
                           hint_for(kind, entry.key), place(entry.mark)});
    made.attributes.push_back(attribute(entry, known));
  }

  static std::string hint_for(const ElementKind& kind, const std::string& key) {
    const ElementKind& benchmark = element("benchmark");
    if (kind.name == "jube" && (benchmark.has_child(key) || benchmark.has_attribute(key)))
      return "it belongs in the benchmark";
    if (kind.has_text && key.find(' ') != std::string::npos)
      return "in YAML a colon and a space end a key; write the whole text in single quotes";
    const std::vector<std::string> known = kind.known();
    if (std::string near = did_you_mean(key, known); !near.empty())
      return near;
    const auto longer = std::ranges::find_if(
        known, [&](const std::string& name) { return name.starts_with(key + "_"); });
    return longer == known.end() ? "" : fmt::format("did you mean '{}'?", *longer);
  }

  Attribute attribute(const Entry& entry, bool known) {
    const Value& value = *entry.value;
    Attribute made{entry.key, value.text, place(entry.mark),
                   place(value.kind == Kind::null ? entry.mark : value.mark)};
    if (value.kind == Kind::mapping && known)
      throw Error(Id::wrong_structure,
                  fmt::format("'{}' takes a text or a list of texts, not a mapping", entry.key), "",
                  made.place);
    if (value.kind != Kind::list || !known) {
      warn_of_surprise(value, entry.key);
      return made;
    }
    std::vector<std::string> pieces;
    for (const Value* text : texts(value, fmt::format("'{}'", entry.key))) {
      warn_of_surprise(*text, entry.key);
      pieces.push_back(text->text);
    }
    made.value = join(pieces, ",");
    return made;
  }

  /// `baseline: {nodes: 1, precision: fp32}` is the text `nodes=1,precision=fp32`.
  Attribute values(const Entry& entry) {
    std::vector<std::string> pieces;
    for (const Entry& one : entry.value->entries) {
      if (!is_scalar(*one.value))
        throw Error(Id::wrong_structure,
                    fmt::format("'{}' in '{}' takes one value", one.key, entry.key), "",
                    place(*one.value));
      warn_of_surprise(*one.value, one.key);
      pieces.push_back(escaped_item(one.key + "=" + one.value->text));
    }
    return {entry.key, join(pieces, ","), place(entry.mark), place(*entry.value)};
  }

  /// The items of a list of texts, lists in it flattened one level.
  std::vector<const Value*> texts(const Value& list, const std::string& what) const {
    std::vector<const Value*> found;
    for (const ValuePtr& item : list.items)
      if (item->kind == Kind::list)
        for (const ValuePtr& inner : item->items)
          found.push_back(inner.get());
      else
        found.push_back(item.get());
    for (const Value* text : found)
      if (!is_scalar(*text))
        throw Error(Id::wrong_structure, fmt::format("{} takes a text or a list of texts", what),
                    "", place(*text));
    return found;
  }

  /// `parameter: {n: [1, 2], precision: fp16}`: one parameter per key. `tag` is the tag of all.
  void add_short_parameters(Node& parent, const Value& value) {
    const Entry* tag = value.entry("tag");
    is_own_ = true;
    for (const Entry& entry : value.entries) {
      if (is_private(entry.key) || &entry == tag)
        continue;
      refuse_lost_attribute(value, entry);
      Node made = short_parameter(entry);
      if (tag)
        add_tag(made, attribute(*tag, true));
      parent.children.push_back(std::move(made));
    }
  }

  /// `{n: [1, 2], type: int}` would be a parameter called `type`.
  static void refuse_lost_attribute(const Value& value, const Entry& entry) {
    if (entry.value->kind != Kind::text || !is_setting(entry.key, entry.value->text))
      return;
    const auto other = std::ranges::find_if(
        value.entries, [&](const Entry& one) { return one.key != entry.key && one.key != "tag"; });
    const std::string name = other == value.entries.end() ? "NAME" : other->key;
    throw Error(Id::invalid_value,
                fmt::format("'{}: {}' belongs to no parameter here", entry.key, entry.value->text),
                fmt::format("write {0}: {{{1}: {2}, _: ...}}; for a parameter called '{1}' write "
                            "{1}: {{_: {2}}}",
                            name, entry.key, entry.value->text),
                place(entry.mark));
  }

  /// Both expressions must hold where the element has one of its own.
  static void add_tag(Node& made, const Attribute& tag) {
    for (Attribute& own : made.attributes)
      if (own.name == "tag") {
        own.value = fmt::format("({})+({})", tag.value, own.value);
        return;
      }
    made.attributes.push_back(tag);
  }

  Node short_parameter(const Entry& entry) {
    const Value& value = *entry.value;
    const bool has_settings = value.kind == Kind::mapping;
    if (const Entry* name = has_settings ? value.entry("name") : nullptr)
      throw Error(Id::invalid_value,
                  fmt::format("the parameter '{}' has its name already", entry.key), "",
                  place(name->mark));
    auto name = std::make_shared<Value>();
    name->kind = Kind::text;
    name->text = entry.key;
    name->mark = entry.mark;
    Value long_form;
    long_form.kind = Kind::mapping;
    long_form.mark = entry.mark;
    long_form.entries.push_back({"name", entry.mark, name});
    long_form.entries.insert(long_form.entries.end(), value.entries.begin(), value.entries.end());

    Node made = mapping(element("parameter"), long_form);
    const Value* content = has_settings ? value.find(content_key) : &value;
    if (content)
      take_values(made, entry.key, *content, entry.mark);
    warn_no_value(content, made);
    return made;
  }

  /// The text, or one `value` child per item of a list.
  void take_values(Node& made, const std::string& name, const Value& value, const Mark& key) {
    if (is_scalar(value)) {
      set_text(made, value, key);
      return infer_type(made, value);
    }
    if (value.items.empty())
      throw Error(Id::wrong_structure,
                  fmt::format("parameter '{}' has an empty list of values", name),
                  "write '' for one empty value", place(value));
    made.text_place = place(value);
    for (const ValuePtr& text : value.items) {
      if (!is_scalar(*text))
        throw Error(Id::wrong_structure,
                    fmt::format("parameter '{}' has a {} among its values", name,
                                text->kind == Kind::list ? "list" : "mapping"),
                    "each value is one text, such as \"1,2\"; several parameters are several keys",
                    place(*text));
      warn_of_surprise(*text, "", &made);
      Node item = node("value", text->mark);
      item.text = text->text;
      count(1, item.place);
      made.children.push_back(std::move(item));
    }
    infer_type(made, value);
  }

  /// Gives a parameter the type that all its values have, unless its own attributes tell.
  static void infer_type(Node& made, const Value& content) {
    if (made.find("type") || made.find("selection") || strip(made.value("mode")) != "text")
      return;
    bool integers = true;
    const auto is_number = [&](const Value& value) {
      integers = integers && value.type == ScalarType::integer;
      return value.type != ScalarType::text;
    };
    const bool numbers =
        content.kind == Kind::list
            ? std::ranges::all_of(content.items,
                                  [&](const ValuePtr& item) { return is_number(*item); })
            : is_number(content);
    if (numbers)
      made.attributes.push_back(
          {"inferred_type", integers ? "int" : "float", made.text_place, made.text_place});
  }

  /// @param key the attribute or element that the value belongs to
  /// @param of where it is the text of an element
  void warn_of_surprise(const Value& value, std::string_view key, const Node* of = nullptr) {
    const bool is_truth = value.type == ScalarType::text;
    if (value.written.empty() || (is_truth && is_flag(key)))
      return;
    // `0.20` is a number with `type: float`, and may be a version without.
    if (of && strip(of->value("type")) == "float" && value.type == ScalarType::real &&
        parse_number(value.written) == parse_number(value.text))
      return;
    diagnostics_.warn(Id::surprising_value,
                      fmt::format("'{}' without quotes means {}", value.written, value.text),
                      fmt::format("so says YAML 1.1, as in JUBE; write \"{}\" for the text, or {}",
                                  value.written, value.text),
                      place(value));
  }

  /// The scanner ends a text without quotes there.
  void warn_of_comment(const Value& value, std::string_view kind) {
    if (!value.comment.empty() && may_hold_hash(kind))
      diagnostics_.warn(Id::surprising_value,
                        fmt::format("'{}' is a comment in YAML", value.comment),
                        "quote the whole text if the '#' belongs to it, or write the comment in "
                        "another line",
                        value.comment_mark.place());
  }

  void warn_lost_text(const ElementKind& kind, const Node& made, const std::string& what) {
    if (!kind.has_text && !strip(made.text).empty())
      diagnostics_.warn(Id::no_effect, fmt::format("the text of {} has no effect", what), "",
                        made.text_place);
  }

  /// An empty value is written as one.
  void warn_no_value(const Value* content, const Node& parameter) {
    const bool has_value = content && content->kind != Kind::null;
    if (!has_value && parameter.children.empty() && !parameter.find("selection"))
      diagnostics_.warn(Id::surprising_value,
                        fmt::format("parameter '{}' has no value", strip(parameter.get("name"))),
                        "write `_: VALUE`; an empty one is `_: ''`", parameter.place);
  }

  Diagnostics& diagnostics_;
  bool is_own_;                    ///< By the part that has been read.
  std::vector<Warning> mistakes_;  ///< Told at the end.
  std::size_t nodes_ = 0;
};

}  // namespace

Node convert(const Value& root, Diagnostics& diagnostics, bool is_own) {
  Converter converter(diagnostics, is_own);
  const std::string file = root.mark.place().file;
  try {
    Node made = converter.root(root);
    converter.tell_mistakes(file);
    return made;
  } catch (const Error&) {
    converter.tell_mistakes(file);  // the error may follow from one of them
    throw;
  }
}

}  // namespace bench::document
