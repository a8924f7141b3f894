#include "reference.hpp"

#include "topics.hpp"
#include "wrapped.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/document/elements.hpp>

namespace bench::cli {
namespace {

using language::Attribute;
using language::Element;

constexpr std::string_view introduction = R"(# The input language

Every element and attribute that an input file may have. `bench help NAME` shows the same in a
terminal. This page is the output of `bench help --markdown`.

- An *element* is a key in YAML and a tag in XML. An *attribute* is a key below it.
- The text of an element that also has attributes is the value of the key `_` in YAML.
- Every element takes the attribute `tag`: it exists only if its [condition](#tag_expression) holds.
- A *name* is one word, *names* are separated by commas, a *flag* is `true` or `false`.
- A *duration* is written `30s`, `10min`, `2h` or `HH:MM:SS`.
- Most values may contain parameters: `$name` or `${name}`.
)";

std::string capitalised(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

std::string code(const std::string& word) {
  return "`" + word + "`";
}

/// `<run>` would be taken for HTML.
std::string in_markdown(const std::string& text) {
  return replace_all(replace_all(text, "<", "\\<"), "*", "\\*");
}

std::string fenced(const std::string& text, std::string_view kind) {
  return fmt::format("```{}\n{}\n```\n", kind, text);
}

std::string attribute_line(const Attribute& attribute) {
  std::string line = "- " + code(attribute.name) + " (" + attribute.type_text();
  if (!attribute.otherwise.empty())
    line += "; default: " + attribute.otherwise;
  return wrapped(in_markdown(line + "): " + attribute.meaning), 2);
}

std::string links(const std::vector<std::string>& names) {
  std::vector<std::string> linked;
  for (const std::string& name : names)
    linked.push_back(fmt::format("[{0}](#{0})", name));
  return join(linked, ", ");
}

std::string element_section(const Element& element) {
  std::string text = "\n### " + element.name + "\n\n" +
                     wrapped(in_markdown(capitalised(element.meaning) + "."), 0) + "\n";
  if (!element.details.empty())
    text += wrapped(in_markdown(replace_all(element.details, "\n", " ")), 0) + "\n";
  text += fenced(element.example, element.name == "include" ? "xml" : "yaml");
  if (!element.attributes.empty())
    text += "\n";
  for (const Attribute& attribute : element.attributes)
    text += attribute_line(attribute);
  if (!element.children.empty())
    text += "\n" + wrapped("Contains: " + links(element.children), 0);
  if (const auto parents = language::parents_of(element); !parents.empty())
    text += "\n" + wrapped("In: " + links(parents), 0);
  if (!element.see_also.empty())
    text += "\n" + wrapped("See also: " + links(split_names(element.see_also, ",")), 0);
  return text;
}

std::string topic_sections(std::span<const Topic> topics) {
  std::string text;
  for (const Topic& topic : topics)
    text += fmt::format("\n### {}\n\n{}\n{}", topic.name,
                        wrapped(capitalised(topic.summary) + ":", 0), fenced(topic.text, "text"));
  return text;
}

}  // namespace

std::string language_reference() {
  std::string text(introduction);
  text += "\n## An input file as a whole\n" + topic_sections(structure_topics());
  text += "\n## Elements\n";
  for (const Element& element : language::all_elements())
    text += element_section(element);
  text += "\n## Metrics\n" + topic_sections(metric_topics());
  return text + "\n## Terms\n" + topic_sections(concept_topics());
}

}  // namespace bench::cli
