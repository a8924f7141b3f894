#include "topics.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/document/elements.hpp>

namespace bench::cli {
namespace {

/// What `bench help` shows of an element: everything that the table of elements holds.
std::string page_of(const language::Element& element) {
  std::vector<std::string> parts;
  if (!element.details.empty())
    parts.push_back(element.details);
  if (!element.attributes.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const language::Attribute& attribute : element.attributes)
      rows.push_back(
          {attribute.name, attribute.type_text(),
           attribute.meaning + (attribute.otherwise.empty()
                                    ? ""
                                    : fmt::format(" (default: {})", attribute.otherwise))});
    parts.emplace_back(strip("Attributes:\n" + aligned_lines(rows, "  ")));
  }
  std::string relations;
  if (!element.children.empty())
    relations += fmt::format("Contains: {}\n", join(element.children, ", "));
  if (const auto parents = language::parents_of(element); !parents.empty())
    relations += fmt::format("In: {}\n", join(parents, ", "));
  if (!element.see_also.empty())
    relations += fmt::format("See also: {}.\n", element.see_also);
  if (!relations.empty())
    parts.emplace_back(strip(relations));
  if (!element.example.empty())
    parts.push_back("Example:\n  " + hanging(element.example, 2));
  return join(parts, "\n\n");
}

}  // namespace

std::span<const Topic> element_topics() {
  static const std::vector<std::string> pages = [] {
    std::vector<std::string> made;
    for (const language::Element& element : language::all_elements())
      made.push_back(page_of(element));
    return made;
  }();
  static const std::vector<Topic> topics = [] {
    std::vector<Topic> made;
    for (std::size_t k = 0; const language::Element& element : language::all_elements())
      made.push_back({element.name.c_str(), element.meaning.c_str(), pages[k++].c_str()});
    return made;
  }();
  return topics;
}

}  // namespace bench::cli
