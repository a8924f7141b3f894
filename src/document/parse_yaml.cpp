#include "source.hpp"
#include "value.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <bench/base/error.hpp>

namespace bench::document {
namespace {

std::size_t offset_of(const YAML::Mark& mark) {
  return static_cast<std::size_t>(std::max(mark.pos, 0));
}

/// The entries of a mapping, each key once: a later one takes the place of an earlier one.
class Entries {
 public:
  void put(const Entry& entry) {
    const auto [at, is_new] = index_.try_emplace(entry.key, entries_.size());
    if (is_new)
      entries_.push_back(entry);
    else
      entries_[at->second] = entry;
  }
  std::vector<Entry> take() { return std::move(entries_); }

 private:
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<Entry> entries_;
};

/// A list or mapping whose end has not come yet.
struct Open {
  std::shared_ptr<Value> value;
  YAML::Mark begin;
  YAML::anchor_t anchor = 0;
  std::optional<Entry> entry = {};  ///< A key that waits for its value.
  bool merges = false;              ///< That key is `<<`.
  std::size_t key_offset = 0;
  std::unordered_map<std::string, int> lines = {};  ///< Of the keys so far.
  std::vector<ValuePtr> merged = {};                ///< What `<<` names; the last wins.

  bool wants_key() const { return value->kind == Value::Kind::mapping && !entry; }
};

/// Builds the tree from the parser's events and checks what the parser lets pass.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(const Source& source) : source_(source) {}

  /// @throws Error for what was noted, now that nothing worse has come
  ValuePtr take() {
    if (noted_)
      throw *noted_;
    return std::move(root_);
  }

  /// Where the innermost list or mapping begins that is not finished.
  Place innermost() const {
    return (stack_.empty() ? source_.mark(0, 0) : stack_.back().value->mark).place();
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1)
      fail("a second document begins here", "an input file holds one document; remove the '---'",
           mark);
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (stack_.empty() || !stack_.back().entry)
      return add(mark, anchor, {.kind = Value::Kind::null, .mark = mark_of(mark)});
    // The parser's mark of an empty value is that of the next token; the key tells more.
    Open& open = stack_.back();
    if (offset_of(mark) == open.key_offset)
      note(fmt::format("':' is missing after '{}'", open.entry->key), "", mark);
    const bool same_line = mark.line + 1 == open.entry->mark.line;
    add(mark, anchor,
        {.kind = Value::Kind::null, .mark = same_line ? mark_of(mark) : open.entry->mark});
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& decoded) override {
    const std::string text = with_whole_characters(decoded);
    source_.check_indentation(offset_of(mark));
    if (tag != "?")
      source_.check_quote(offset_of(mark));
    Value value{.kind = Value::Kind::text, .text = text, .mark = mark_of(mark)};
    const bool is_key = !stack_.empty() && stack_.back().wants_key();
    if (tag == "!include") {
      value.kind = Value::Kind::include;
    } else if (resolves(tag, mark) && !is_key) {
      auto resolved = plain_scalar(text);
      value.kind = resolved ? Value::Kind::text : Value::Kind::null;
      value.text = resolved ? std::move(resolved->text) : "";
      value.type = resolved ? resolved->type : ScalarType::text;
      if (tag == "?" && resolved && resolved->is_surprising)
        value.written = text;
    }
    if (const auto at =
            tag == "?" ? source_.comment_behind(offset_of(mark), text) : std::string::npos;
        at != std::string::npos) {
      value.comment = source_.line_from(at);
      value.comment_mark = source_.mark(mark.line + 1, source_.place(at).column);
    }
    value.nodes = weight(value.text);
    add(mark, anchor, std::move(value));
    if (is_key)
      stack_.back().merges = tag == "?" && text == "<<";
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto named = anchors_.find(anchor);
    if (named == anchors_.end())
      fail(fmt::format("alias '{}' is inside the value that it names",
                       source_.word(offset_of(mark))),
           "", mark);
    attach(mark, named->second);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Value::Kind::list, "tag:yaml.org,2002:seq", mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Value::Kind::mapping, "tag:yaml.org,2002:map", mark, tag, anchor);
  }
  void OnMapEnd() override {
    merge(stack_.back());
    close();
  }

 private:
  Mark mark_of(const YAML::Mark& mark) const {
    return source_.mark(mark.line + 1, mark.column + 1);
  }

  [[noreturn]] void fail(const std::string& message, const std::string& hint,
                         const YAML::Mark& mark) const {
    throw Error(Id::syntax, message, hint, mark_of(mark).place());
  }

  /// A failure that may only follow from a later one, such as a bracket that is never closed.
  void note(const std::string& message, const std::string& hint, const YAML::Mark& mark) {
    if (!noted_)
      noted_.emplace(Id::syntax, message, hint, mark_of(mark).place());
  }

  [[noreturn]] void fail_tag(const std::string& tag, const YAML::Mark& mark) const {
    if (tag == "!include")
      fail("'!include' takes a text", R"(write !include FILE or !include "FILE:['key']")", mark);
    constexpr std::string_view standard = "tag:yaml.org,2002:";
    const std::string written =
        tag.starts_with(standard) ? "!!" + tag.substr(standard.size()) : tag;
    fail(fmt::format("unknown tag '{}'", written), "quote a text that begins with '!'", mark);
  }

  /// True where the rules for plain scalars apply.
  bool resolves(const std::string& tag, const YAML::Mark& mark) const {
    if (tag == "?")
      return true;
    if (tag.empty() || tag == "!" || tag == "tag:yaml.org,2002:str")
      return false;
    for (const char* type : {"int", "float", "bool", "null", "timestamp"})
      if (tag == fmt::format("tag:yaml.org,2002:{}", type))
        return true;
    fail_tag(tag, mark);
  }

  void open(Value::Kind kind, const char* own_tag, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    source_.check_indentation(offset_of(mark));
    if (!tag.empty() && tag != "?" && tag != "!" && tag != own_tag)
      fail_tag(tag, mark);
    auto value = std::make_shared<Value>();
    value->kind = kind;
    value->mark = mark_of(mark);
    stack_.push_back({.value = std::move(value), .begin = mark, .anchor = anchor});
  }

  void close() {
    const Open done = std::move(stack_.back());
    stack_.pop_back();
    if (done.anchor)
      anchors_[done.anchor] = done.value;
    attach(done.begin, done.value);
  }

  void add(const YAML::Mark& mark, YAML::anchor_t anchor, Value&& value) {
    auto shared = std::make_shared<const Value>(std::move(value));
    if (anchor)
      anchors_[anchor] = shared;
    attach(mark, shared);
  }

  /// Hangs a finished value into the innermost open list or mapping.
  void attach(const YAML::Mark& mark, const ValuePtr& value) {
    if (stack_.empty()) {
      root_ = value;
      return;
    }
    Open& parent = stack_.back();
    if (parent.wants_key())
      return take_key(parent, mark, *value);
    grow(*parent.value, *value);
    if (parent.value->kind == Value::Kind::list) {
      parent.value->items.push_back(value);
    } else if (parent.merges) {
      take_merged(parent, value);
    } else {
      parent.entry->value = value;
      parent.value->entries.push_back(std::move(*parent.entry));
    }
    parent.entry.reset();
  }

  void take_key(Open& parent, const YAML::Mark& mark, const Value& key) {
    if (key.kind == Value::Kind::null)
      note("a key is missing before ':'", "", mark);
    else if (key.kind != Value::Kind::text)
      note("a list or a mapping cannot be a key", "quote a text that begins with '{' or '['", mark);
    const auto [first, is_new] = parent.lines.try_emplace(key.text, mark.line + 1);
    if (!is_new)
      fail(fmt::format("key '{}' appears twice in one mapping", key.text),
           fmt::format("the first is in line {}", first->second), mark);
    parent.entry = Entry{key.text, mark_of(mark), nullptr};
    parent.key_offset = offset_of(mark);
    parent.merges = false;
  }

  void take_merged(Open& parent, const ValuePtr& value) {
    const bool is_list = value->kind == Value::Kind::list;
    const auto maps = is_list ? value->items : std::vector<ValuePtr>{value};
    for (const ValuePtr& map : maps)
      if (map->kind != Value::Kind::mapping)
        throw Error(Id::wrong_structure, "'<<' takes a mapping or a list of mappings", "",
                    parent.entry->mark.place());
    parent.merged.assign(maps.rbegin(), maps.rend());
  }

  /// Merged keys come first, the own ones override them; in a list of mappings the first wins.
  static void merge(Open& mapping) {
    if (mapping.merged.empty())
      return;
    Entries all;
    for (const ValuePtr& map : mapping.merged)
      for (const Entry& entry : map->entries)
        all.put(entry);
    for (const Entry& entry : mapping.value->entries)
      all.put(entry);
    mapping.value->entries = all.take();
  }

  void grow(Value& parent, const Value& child) const {
    parent.nodes += child.nodes;
    parent.depth = std::max(parent.depth, child.depth + 1);
    if (parent.nodes > max_nodes)
      throw Error(Id::too_large, "more than 1,000,000 values once the aliases are expanded", "",
                  parent.mark.place());
    if (parent.depth > max_depth)
      throw Error(Id::too_large, fmt::format("nested more than {} levels deep", max_depth), "",
                  child.mark.place());
  }

  const Source& source_;
  std::vector<Open> stack_;
  std::unordered_map<YAML::anchor_t, ValuePtr> anchors_;
  ValuePtr root_;
  std::optional<Error> noted_;
  int documents_ = 0;
};

/// What the parser found, in words that tell the user where to look.
[[noreturn]] void rethrow(const YAML::ParserException& failure, const Source& source,
                          const Builder& builder) {
  const auto begin = source.line_begin(failure.mark.line + 1);
  source.check_indentation(source.text().find_first_not_of(" \t", begin));
  if (failure.msg == "end of sequence flow not found" || failure.msg == "end of map flow not found")
    source.check_quotes_from(source.line_begin(builder.innermost().line));
  if (failure.msg == "end of sequence flow not found")
    throw Error(Id::syntax, "a ',' or the closing ']' is missing in the list that begins here", "",
                builder.innermost());
  if (failure.msg == "end of map flow not found")
    throw Error(Id::syntax, "a ',' or the closing '}' is missing in the mapping that begins here",
                "", builder.innermost());
  std::string message = failure.msg;
  std::string hint;
  if (failure.msg == "illegal map value")
    hint = "quote a text that contains ': ', and check the indentation";
  else if (failure.msg == "unknown token")
    hint = "quote a text that begins with '@', '`' or '%'";
  else if (failure.msg == "end of map not found" || failure.msg == "end of sequence not found") {
    message = fmt::format("this does not continue the {} above it",
                          failure.msg == "end of map not found" ? "mapping" : "list");
    hint = "check the indentation and the quotes of this line";
  } else if (failure.msg.starts_with("the referenced anchor is not defined")) {
    message = "the referenced anchor is not defined";  // yaml-cpp 0.8 adds its name
    hint = "quote a text that begins with '*'";
  }
  throw Error(Id::syntax, message, hint,
              source.mark(failure.mark.line + 1, failure.mark.column + 1).place());
}

}  // namespace

ValuePtr parse_yaml(const std::string& text, const std::string& file) {
  const Source source(text, file);
  std::istringstream stream(source.text());
  Builder builder(source);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::DeepRecursion& failure) {
    throw Error(Id::too_large, "nested too deeply", "",
                source.mark(failure.mark.line + 1, failure.mark.column + 1).place());
  } catch (const YAML::ParserException& failure) {
    rethrow(failure, source, builder);
  }
  ValuePtr root = builder.take();
  if (!root || root->kind == Value::Kind::null)
    throw Error(Id::syntax, "the file is empty", "", Place{file, 0, 0});
  return root;
}

}  // namespace bench::document
