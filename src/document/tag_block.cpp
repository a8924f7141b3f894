#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/document/tags.hpp>

namespace bench::document {
namespace {

/// `a+!b` as `a and not b`.
std::string in_words(const std::string& expression) {
  std::string words;
  for (const char c : expression)
    switch (c) {
      case '|':
        words += " or ";
        break;
      case '+':
        words += " and ";
        break;
      case '^':
        words += " xor ";
        break;
      case '!':
        words += "not ";
        break;
      case ' ':
      case '\t':
      case '\n':
      case '\r':
        break;
      default:
        words += c;
    }
  return words;
}

/// Those of `tags`, and the old ones at the top.
std::vector<const Node*> requirements(const Node& root) {
  std::vector<const Node*> found = root.all("check_tags");
  for (const Node* tags : root.all("tags"))
    for (const Node* check : tags->all("check_tags"))
      found.push_back(check);
  return found;
}

void check_requirements(const Document& document) {
  for (const Node* check : requirements(document.root)) {
    if (tag_holds(check->text, document.active_tags, check->text_place))
      continue;
    const auto& active = document.active_tags;
    const std::vector<std::string> names(active.begin(), active.end());
    throw Error(Id::tag_rule, fmt::format("the tags must fulfil: {}", in_words(check->text)),
                names.empty() ? "no tag is active; choose with --tag"
                              : fmt::format("active: {}", join(names, ", ")),
                check->text_place);
  }
}

/// The parameters of mode `tag` ask for a tag by its name.
void collect_tag_parameters(const Node& node, std::set<std::string>& names) {
  if (node.name == "parameter" && strip(node.get("mode")) == "tag")
    names.emplace(strip(node.text));
  for (const Node& child : node.children)
    collect_tag_parameters(child, names);
}

/// Those that have an effect on the benchmarks.
std::set<std::string> used_tags(const Document& document) {
  std::set<std::string> names = document.all_tag_names;
  collect_tag_parameters(document.root, names);
  return names;
}

bool is_forced(const Node& root) {
  bool forced = false;
  for (const Node* tags : root.all("tags"))
    forced = tags->flag("forced") || forced;
  return forced;
}

void check_descriptions(const Document& document, const std::set<std::string>& known) {
  std::set<std::string> described;
  const auto used = used_tags(document);
  for (const TagDescription& tag : tag_descriptions(document.root)) {
    if (tag.name.empty())
      throw Error(Id::tag_rule, "a description of a tag without its name", "add `name: ...`",
                  tag.place);
    if (tag.text.empty())
      throw Error(Id::tag_rule, fmt::format("the description of tag '{}' is empty", tag.name), "",
                  tag.place);
    if (!described.insert(tag.name).second)
      throw Error(Id::duplicate_name, fmt::format("tag '{}' is described twice", tag.name), "",
                  tag.place);
    if (!used.contains(tag.name) && !known.contains(tag.name))
      throw Error(Id::tag_rule, fmt::format("tag '{}' is described, but selects nothing", tag.name),
                  did_you_mean(tag.name, std::vector<std::string>(used.begin(), used.end())),
                  tag.place);
  }
  if (!is_forced(document.root))
    return;
  for (const std::string& name : document.tag_names)
    if (!described.contains(name))
      throw Error(Id::tag_rule, fmt::format("tag '{}' has no description", name),
                  did_you_mean(name, std::vector<std::string>(described.begin(), described.end())),
                  document.root.all("tags").front()->place);
}

}  // namespace

std::vector<TagDescription> tag_descriptions(const Node& root) {
  std::vector<TagDescription> found;
  for (const Node* tags : root.all("tags"))
    for (const Node* tag : tags->all("tag"))
      found.push_back({.name = std::string(strip(tag->get("name"))),
                       .text = std::string(strip(tag->text)),
                       .place = tag->place});
  return found;
}

std::set<std::string> known_tags(const Document& document) {
  std::set<std::string> names = used_tags(document);
  for (const TagDescription& tag : tag_descriptions(document.root))
    names.insert(tag.name);
  for (const Node* check : requirements(document.root))
    names.merge(names_in_tag_expression(check->text));
  return names;
}

void check_tags(const Document& document, const std::set<std::string>& known) {
  check_descriptions(document, known);
  check_requirements(document);
}

}  // namespace bench::document
