#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/document/elements.hpp>

namespace bench::document {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<ElementKind> joined() {
  std::vector<ElementKind> all;
  for (const auto* part : {&elements_of_parameters, &elements_of_files, &elements_of_steps,
                           &elements_of_analysis, &elements_of_results, &elements_of_a_file})
    all.insert(all.end(), part->begin(), part->end());
  return all;
}

}  // namespace

std::string_view name_of(Type type) {
  constexpr std::array<std::string_view, 10> names{"text",          "name",      "names", "number",
                                                   "true or false", "duration",  "path",  "paths",
                                                   "condition",     "name=value"};
  return names.at(static_cast<std::size_t>(type));
}

Default in_words(std::string words) {
  Default made;
  made.words = std::move(words);
  return made;
}

std::string AttributeKind::type_text() const {
  std::string text(words.empty() ? name_of(type) : words.front());
  for (std::size_t k = 1; k < words.size(); ++k)
    text += (k + 1 < words.size() ? ", " : " or ") + words[k];
  return text;
}

bool ElementKind::has_child(std::string_view key) const {
  return contains(children, key);
}

const AttributeKind* ElementKind::attribute(std::string_view key) const {
  const auto found = std::ranges::find(attributes, key, &AttributeKind::name);
  return found == attributes.end() ? nullptr : &*found;
}

bool ElementKind::has_attribute(std::string_view key) const {
  return attribute(key) || (key == "tag" && name != "jube");
}

std::vector<std::string> ElementKind::known() const {
  std::vector<std::string> names = children;
  for (const AttributeKind& attribute : attributes)
    names.push_back(attribute.name);
  if (name != "jube")
    names.emplace_back("tag");
  return names;
}

const std::vector<ElementKind>& all_elements() {
  static const std::vector<ElementKind> all = joined();
  return all;
}

const ElementKind& element(std::string_view name) {
  static const std::map<std::string_view, const ElementKind*> by_name = [] {
    std::map<std::string_view, const ElementKind*> rows;
    for (const ElementKind& one : all_elements())
      rows.emplace(one.name, &one);
    return rows;
  }();
  return *by_name.at(name);  // `at` guards a row that was forgotten; a test looks every child up
}

std::vector<std::string> parents_of(const ElementKind& child) {
  std::vector<std::string> parents;
  for (const ElementKind& parent : all_elements())
    if (parent.has_child(child.name))
      parents.push_back(parent.name);
  return parents;
}

}  // namespace bench::document
