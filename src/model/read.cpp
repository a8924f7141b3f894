#include "read.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

using document::Node;

std::string attribute(const Node& node, const char* key) {
  return std::string(strip(node.value(key)));
}

const Place& place_of(const Node& node, const char* key) {
  const document::Attribute* found = node.find(key);
  return found ? found->place : node.place;
}

std::string required_name(const Node& node) {
  std::string name = attribute(node, "name");
  if (name.empty())
    throw Error(Id::missing_key, fmt::format("this {} has no name", node.name), "add `name: ...`",
                node.place);
  return name;
}

std::string file_name(const Node& node) {
  std::string name = required_name(node);
  if (name == "." || name == ".." || name.find('/') != std::string::npos)
    throw Error(Id::invalid_value,
                fmt::format("'{}' is not a valid name for a {}", name, node.name),
                name.find('/') == std::string::npos
                    ? "it becomes the name of a file or directory; use letters, digits, '_' or '-'"
                    : "it becomes the name of a file or directory; remove the '/'",
                place_of(node, "name"));
  return name;
}

std::string identifier(const Node& node) {
  std::string name = required_name(node);
  const bool good = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c >= 0x80;
  });
  if (!good || std::isdigit(static_cast<unsigned char>(name.front())))
    throw Error(
        Id::invalid_value, fmt::format("'{}' is not a valid name for a {}", name, node.name),
        "use letters, digits and underscores; do not begin with a digit", place_of(node, "name"));
  return name;
}

int whole_number(const Node& node, const char* key, int minimum) {
  const std::string text = attribute(node, key);
  const auto value = parse_integer(text);
  if (!value || *value < minimum || *value > 1'000'000'000)
    throw Error(
        Id::invalid_value,
        fmt::format("{} must be a whole number of at least {}, not '{}'", key, minimum, text), "",
        place_of(node, key));
  return static_cast<int>(*value);
}

std::optional<Better> better_of(const Node& node) {
  return one_of_or_none<Better>(node, "better",
                                {{"higher", Better::higher}, {"lower", Better::lower}});
}

const Node* only_one(const Node& step, const char* name) {
  const auto elements = step.all(name);
  if (elements.size() > 1)
    throw Error(Id::conflict,
                fmt::format("step '{}' has several `{}`", attribute(step, "name"), name), "",
                elements.back()->place);
  return elements.empty() ? nullptr : elements.front();
}

std::vector<std::string> used_names(const Node& node) {
  std::vector<std::string> names;
  for (const Node* use : node.all("use"))
    for (std::string& name : split_names(use->text)) {
      if (std::find(names.begin(), names.end(), name) != names.end())
        throw Error(Id::duplicate_name,
                    fmt::format("'{}' is used twice in one {}", name, node.name), "",
                    use->text_place);
      names.push_back(std::move(name));
    }
  return names;
}

const Place& place_of_use(const Node& node, const std::string& name) {
  for (const Node* use : node.all("use")) {
    const auto names = split_names(use->text);
    if (std::find(names.begin(), names.end(), name) != names.end())
      return use->text_place;
  }
  return node.place;
}

Command build_command(const document::Node& node) {
  Command command;
  command.text = strip(node.text);
  command.active = attribute(node, "active");
  command.stdout_file = attribute(node, "stdout");
  command.stderr_file = attribute(node, "stderr");
  command.work_dir = attribute(node, "work_dir");
  command.done_file = attribute(node, "done_file");
  command.error_file = attribute(node, "error_file");
  command.break_file = attribute(node, "break_file");
  if (node.name == "do")
    command.shared = node.flag("shared", "`shared` of the step names the directory");
  command.place = node.text_place;
  return command;
}

}  // namespace bench::model
