#include "sets.hpp"

#include "by_name.hpp"
#include "read.hpp"

#include <fmt/core.h>

namespace bench::model {

using document::Node;
using evaluate::Mode;

namespace {

const std::map<std::string, Mode>& script_modes() {
  static const std::map<std::string, Mode> modes{{"text", Mode::text},
                                                 {"python", Mode::python},
                                                 {"perl", Mode::perl},
                                                 {"shell", Mode::shell},
                                                 {"env", Mode::env}};
  return modes;
}

Parameter build_parameter(const Node& node) {
  Parameter parameter;
  parameter.name = identifier(node);
  parameter.text = strip(node.text);
  for (const Node* value : node.all("value"))
    parameter.values.emplace_back(strip(value->text));
  parameter.type = value_type(attribute(node, "type", "string"));
  parameter.mode = one_of(node, "mode", script_modes(), Mode::text);
  if (!parameter.values.empty() && parameter.mode != Mode::text)
    throw Error(fmt::format("parameter '{}' has a list of values and a mode", parameter.name),
                "a list is taken as it is written; write the values as one text for a mode",
                place_of(node, "mode"));
  parameter.separator = node.get("separator", ",");
  parameter.exported = flag(node, "export", false);
  parameter.unit = attribute(node, "unit");
  parameter.place = node.text_place;
  return parameter;
}

Pattern build_pattern(const Node& node) {
  Pattern pattern;
  pattern.name = identifier(node);
  pattern.text = strip(node.text);
  if (const document::Attribute* mode = node.find("mode");
      mode && strip(mode->value) != "pattern") {
    std::map<std::string, Mode> modes = script_modes();
    modes.erase("env");
    pattern.derived = true;
    pattern.mode = one_of(node, "mode", modes, Mode::text);
  }
  pattern.type = value_type(attribute(node, "type", "string"));
  pattern.unit = attribute(node, "unit");
  if (const document::Attribute* otherwise = node.find("default"))
    pattern.default_value = otherwise->value;
  pattern.dotall = flag(node, "dotall", false);
  pattern.place = node.text_place;
  if (pattern.text.empty())
    throw Error(fmt::format("pattern '{}' is empty", pattern.name), "", node.place);
  return pattern;
}

}  // namespace

ParameterSet build_parameter_set(const Node& node) {
  ParameterSet set{.name = required_name(node), .parameters = {}, .place = node.place};
  for (const Node* child : node.all("parameter")) {
    Parameter parameter = build_parameter(*child);
    // As in JUBE a later definition keeps the place of the first in the order of expansion.
    bool replaced = false;
    for (Parameter& earlier : set.parameters)
      if (earlier.name == parameter.name) {
        earlier = parameter;
        replaced = true;
      }
    if (!replaced)
      set.parameters.push_back(std::move(parameter));
  }
  return set;
}

PatternSet build_pattern_set(const Node& node) {
  PatternSet set{.name = required_name(node), .patterns = {}, .place = node.place};
  for (const Node* child : node.all("pattern")) {
    Pattern pattern = build_pattern(*child);
    if (const Pattern* earlier = by_name(set.patterns, pattern.name))
      throw Error(
          fmt::format("pattern '{}' is defined twice in pattern set '{}'", pattern.name, set.name),
          fmt::format("the first stands in line {}", earlier->place.line), pattern.place);
    set.patterns.push_back(std::move(pattern));
  }
  return set;
}

}  // namespace bench::model
