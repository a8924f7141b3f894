#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/tags.hpp>

namespace bench::document {
namespace {

constexpr std::string_view operators = "()|+!^,";

/// Deeper expressions are a mistake, and would exhaust the stack.
constexpr int max_nesting = 100;

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; });
  return text;
}

/// One function per rule of the grammar, loosest first. Nothing is skipped: the whole expression
/// is checked whatever its value.
class TagParser {
 public:
  TagParser(const std::string& expression, const std::set<std::string>& active, const Place& place)
      : expression_(expression),
        text_(without_blanks(expression)),
        rest_(text_),
        active_(active),
        place_(place) {}

  bool parse() {
    if (rest_.empty())
      fail("it is empty");
    const bool value = either();
    if (!rest_.empty())
      fail_at_rest("unexpected");
    return value;
  }

 private:
  bool take(char c) {
    const bool found = rest_.starts_with(c);
    if (found)
      rest_.remove_prefix(1);
    return found;
  }

  bool either() {
    bool value = all();
    while (take('|'))
      value = all() || value;
    return value;
  }

  bool all() {
    bool value = negated();
    while (take('+'))
      value = negated() && value;
    return value;
  }

  bool negated() {
    bool invert = false;
    while (take('!'))
      invert = !invert;
    return odd() != invert;
  }

  bool odd() {
    bool value = atom();
    while (take('^')) {
      if (rest_.starts_with('!'))
        fail("'!' cannot follow '^'", "write a^(!b)");
      value = atom() != value;
    }
    return value;
  }

  bool atom() {
    if (take('('))
      return inside();
    const auto length = std::min(rest_.find_first_of(operators), rest_.size());
    if (rest_.empty())
      fail("a name is missing at its end");
    if (length == 0)
      fail_at_rest("a name is missing before");
    const std::string name(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return active_.contains(name);
  }

  /// Behind an opening parenthesis; `()` is false.
  bool inside() {
    if (take(')'))
      return false;
    if (++nesting_ > max_nesting)
      fail("its parentheses are nested too deeply");
    const bool value = either();
    --nesting_;
    if (rest_.empty())
      fail("missing ')'");
    if (!take(')'))
      fail_at_rest("unexpected");
    return value;
  }

  [[noreturn]] void fail_at_rest(const std::string& what) const {
    fail(fmt::format("{} '{}'", what, rest_[0]),
         rest_[0] == ',' ? "write '|' for or, '+' for and" : "");
  }

  [[noreturn]] void fail(const std::string& why, const std::string& hint = "") const {
    throw Error(Id::invalid_expression,
                fmt::format("tag expression '{}' does not parse: {}", expression_, why), hint,
                place_);
  }

  std::string expression_;
  std::string text_;
  std::string_view rest_;
  const std::set<std::string>& active_;
  Place place_;
  int nesting_ = 0;
};

/// The names that hold a blank, or an operator of other languages.
std::vector<std::string> odd_names(const std::string& expression) {
  std::vector<std::string> odd;
  for (std::size_t at = 0; at < expression.size();) {
    const auto end = std::min(expression.find_first_of(operators, at), expression.size());
    const std::string_view written = strip(std::string_view(expression).substr(at, end - at));
    if (written.find_first_of(" \t\n") != std::string_view::npos ||
        written.find("&&") != std::string_view::npos)
      odd.push_back(without_blanks(std::string(written)));
    at = end + 1;
  }
  return odd;
}

void collect_names(const Node& node, std::set<std::string>& names) {
  if (const Attribute* tag = node.find("tag"))
    names.merge(names_in_tag_expression(tag->value));
  for (const Node& child : node.children)
    collect_names(child, names);
}

}  // namespace

bool tag_holds(const std::string& expression, const std::set<std::string>& active,
               const Place& place) {
  return TagParser(expression, active, place).parse();
}

void warn_of_odd_tags(const Node& root, Diagnostics& diagnostics) {
  if (const Attribute* tag = root.find("tag"))
    for (const std::string& name : odd_names(tag->value))
      diagnostics.warn(Id::tag_rule,
                       fmt::format("tag expression '{}' asks for the tag '{}'", tag->value, name),
                       "write '+' for and, '|' for or, '!' for not", tag->place);
  for (const Node& child : root.children)
    warn_of_odd_tags(child, diagnostics);
}

void select_tags(Node& root, const std::set<std::string>& active) {
  std::erase_if(root.children, [&](const Node& child) {
    const Attribute* tag = child.find("tag");
    return tag && !tag_holds(tag->value, active, tag->place);
  });
  for (Node& child : root.children) {
    std::erase_if(child.attributes, [](const Attribute& a) { return a.name == "tag"; });
    select_tags(child, active);
  }
}

std::set<std::string> names_in_tag_expression(const std::string& expression) {
  std::set<std::string> names;
  const std::string text = without_blanks(expression);
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find_first_of(operators, at), text.size());
    if (end > at)
      names.insert(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

std::set<std::string> tag_names(const Node& root) {
  std::set<std::string> names;
  collect_names(root, names);
  return names;
}

namespace {

/// `parameter n`, `step compute`, `do`.
std::string name_of(const Node& node) {
  const std::string name = node.get("name");
  return name.empty() ? node.name : node.name + " " + name;
}

/// Every element that stays with these tags, in file order.
void collect(const Node& node, const std::set<std::string>& active,
             std::vector<const Node*>& selected) {
  for (const Node& child : node.children) {
    const Attribute* tag = child.find("tag");
    if (tag && !tag_holds(tag->value, active, tag->place))
      continue;
    selected.push_back(&child);
    collect(child, active, selected);
  }
}

/// The names of the elements of `some` that are not among `others`.
std::vector<std::string> only_in(const std::vector<const Node*>& some,
                                 const std::vector<const Node*>& others) {
  const std::set<const Node*> known(others.begin(), others.end());
  std::vector<std::string> names;
  for (const Node* node : some)
    if (!known.contains(node))
      names.push_back(name_of(*node));
  return names;
}

}  // namespace

std::vector<TagEffect> tag_effects(const Node& root, const std::set<std::string>& active) {
  std::vector<TagEffect> effects;
  for (const std::string& tag : tag_names(root)) {
    std::set<std::string> with = active;
    with.insert(tag);
    std::set<std::string> without = active;
    without.erase(tag);
    std::vector<const Node*> selected_with;
    std::vector<const Node*> selected_without;
    collect(root, with, selected_with);
    collect(root, without, selected_without);
    effects.push_back({.tag = tag,
                       .active = active.contains(tag),
                       .adds = only_in(selected_with, selected_without),
                       .removes = only_in(selected_without, selected_with)});
  }
  return effects;
}

}  // namespace bench::document
