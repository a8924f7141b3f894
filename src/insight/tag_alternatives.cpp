#include "tag_alternatives.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/space/run.hpp>

namespace bench::insight {
namespace {

using document::Node;

/// The file itself, tags and all, if it is the whole input and still what the run was made from.
std::optional<Node> untagged_input(const space::Run& run) {
  const std::filesystem::path file = run.metadata.input_file;
  if (space::input_state(run) != space::InputState::unchanged)
    return std::nullopt;
  if (read_file(file).find("include") != std::string::npos)
    return std::nullopt;
  Diagnostics seen_at_the_start;
  return document::read_file(file, seen_at_the_start);
}

std::vector<std::string> values_of(const Node& parameter) {
  std::vector<std::string> values;
  for (const Node* value : parameter.all("value"))
    values.emplace_back(strip(value->text));
  return values.empty() ? split_values(parameter.text, parameter.value("separator")) : values;
}

class TagSearch {
 public:
  TagSearch(const std::string& parameter, const std::optional<std::string>& value)
      : parameter_(parameter), value_(value) {}

  /// @param conditions of the elements around this one
  void visit(const Node& node, std::vector<std::string> conditions) {
    if (const document::Attribute* tag = node.find("tag"))
      conditions.push_back(tag->value);
    if (!conditions.empty() && gives(node))
      if (std::string all = join(conditions, " + "); std::ranges::find(found, all) == found.end())
        found.push_back(std::move(all));
    for (const Node& child : node.children)
      visit(child, conditions);
  }

  std::vector<std::string> found;

 private:
  bool gives(const Node& node) const {
    if (node.name != "parameter" || strip(node.get("name")) != parameter_)
      return false;
    const std::vector<std::string> values = values_of(node);
    return !value_ || std::ranges::find(values, *value_) != values.end();
  }

  const std::string& parameter_;
  const std::optional<std::string>& value_;
};

}  // namespace

std::vector<std::string> tags_giving(const space::Run& run, const std::string& parameter,
                                     const std::optional<std::string>& value) {
  const std::optional<Node> root = untagged_input(run);
  if (!root)
    return {};
  TagSearch search(parameter, value);
  search.visit(*root, {});
  return std::move(search.found);
}

}  // namespace bench::insight
