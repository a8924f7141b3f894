#include "sets.hpp"

#include "duplicates.hpp"
#include "read.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/document/node.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

using document::Node;
using evaluate::Mode;

namespace {

const std::map<std::string, Mode>& script_modes() {
  static const std::map<std::string, Mode> modes{{"text", Mode::text}, {"python", Mode::python},
                                                 {"perl", Mode::perl}, {"shell", Mode::shell},
                                                 {"env", Mode::env},   {"tag", Mode::tag}};
  return modes;
}

const std::map<std::string, UpdateMode>& update_modes() {
  static const std::map<std::string, UpdateMode> modes{{"never", UpdateMode::never},
                                                       {"use", UpdateMode::use},
                                                       {"step", UpdateMode::step},
                                                       {"cycle", UpdateMode::cycle},
                                                       {"always", UpdateMode::always}};
  return modes;
}

/// `selection` fixes the value, whatever the text would give.
void apply_selection(const Node& node, Parameter& parameter) {
  if (const document::Attribute* selection = node.find("selection")) {
    parameter.text.clear();
    parameter.values = {std::string(strip(selection->value))};
    parameter.mode = Mode::text;
  }
}

Parameter build_parameter(const Node& node) {
  Parameter parameter;
  parameter.name = identifier(node);
  parameter.text = strip(node.text);
  for (const Node* value : node.all("value"))
    parameter.values.emplace_back(strip(value->text));
  parameter.type_is_inferred = !node.find("type") && node.find("inferred_type");
  parameter.type =
      value_type(attribute(node, parameter.type_is_inferred ? "inferred_type" : "type", "string"));
  parameter.mode = one_of(node, "mode", script_modes(), Mode::text);
  if (!parameter.values.empty() && parameter.mode != Mode::text)
    throw Error(fmt::format("parameter '{}' has a list of values and a mode", parameter.name),
                "list items are taken as written; with a mode, write the values as one text",
                place_of(node, "mode"));
  parameter.separator = node.get("separator", ",");
  parameter.exported = node.flag("export", false);
  parameter.update_mode = one_of(node, "update_mode", update_modes(), UpdateMode::never);
  parameter.unit = attribute(node, "unit");
  parameter.place = node.text_place;
  apply_selection(node, parameter);
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
    modes.erase("tag");
    pattern.derived = true;
    pattern.mode = one_of(node, "mode", modes, Mode::text);
  }
  pattern.type = value_type(attribute(node, "type", "string"));
  pattern.unit = attribute(node, "unit");
  if (const document::Attribute* otherwise = node.find("default"))
    pattern.default_value = strip(otherwise->value);
  pattern.dotall = node.flag("dotall", false);
  pattern.better = better_of(node);
  pattern.place = node.text_place;
  return pattern;
}

}  // namespace

ParameterSet build_parameter_set(const Node& node) {
  ParameterSet set{.name = required_name(node), .parameters = {}, .place = node.place};
  std::vector<Definition> definitions;
  for (const Node* child : node.all("parameter"))
    definitions.push_back({build_parameter(*child), duplicate_of_parameter(*child)});
  set.parameters = merge_duplicates(std::move(definitions), duplicate_of_set(node), set.name);
  return set;
}

PatternSet build_pattern_set(const Node& node) {
  PatternSet set{.name = required_name(node), .patterns = {}, .place = node.place, .replaced = {}};
  for (const Node* child : node.all("pattern")) {
    Pattern pattern = build_pattern(*child);
    const auto earlier = std::ranges::find(set.patterns, pattern.name, &Pattern::name);
    if (earlier == set.patterns.end())
      set.patterns.push_back(std::move(pattern));
    else
      set.replaced.push_back(std::exchange(*earlier, std::move(pattern)));
  }
  return set;
}

}  // namespace bench::model
