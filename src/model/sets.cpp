#include "sets.hpp"

#include "read.hpp"

#include <algorithm>
#include <map>
#include <set>
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
namespace {

using document::Node;
using evaluate::Mode;

/// What several definitions of one name in a set come to.
enum class Duplicate {
  none,     ///< Of a parameter: its set decides.
  replace,  ///< The last counts, in place of the first.
  concat,   ///< A template of all their values, each once, sorted as texts.
  error
};

/// A parameter as one element defines it.
struct Definition {
  Parameter parameter;
  Duplicate duplicate = Duplicate::none;
};

const std::map<std::string, Duplicate>& duplicate_words() {
  static const std::map<std::string, Duplicate> words{
      {"replace", Duplicate::replace}, {"concat", Duplicate::concat}, {"error", Duplicate::error}};
  return words;
}

std::string stands_in(const Parameter& earlier) {
  return fmt::format("first defined at {}:{}", earlier.place.file, earlier.place.line);
}

void add_values(const Parameter& parameter, std::set<std::string>& values) {
  const std::vector<std::string> all = parameter.values.empty()
                                           ? split_values(parameter.text, parameter.separator)
                                           : parameter.values;
  values.insert(all.begin(), all.end());
}

void require_equal(bool equal, const char* what, const Parameter& earlier, const Parameter& later) {
  if (!equal)
    throw Error(
        fmt::format("cannot combine the definitions of '{}': they differ in {}", later.name, what),
        stands_in(earlier), later.place);
}

/// Both as one template. Scripts in it are taken as plain text.
Parameter concatenate(const Parameter& earlier, const Parameter& later) {
  require_equal(earlier.separator == later.separator, "separator", earlier, later);
  const bool is_inferred = earlier.type_is_inferred || later.type_is_inferred;
  require_equal(is_inferred || earlier.type == later.type, "type", earlier, later);
  require_equal(earlier.update_mode == later.update_mode, "update_mode", earlier, later);
  std::set<std::string> values;
  add_values(earlier, values);
  add_values(later, values);
  std::vector<std::string> sorted(values.begin(), values.end());
  Parameter joined = later;
  joined.mode = evaluate::Mode::text;
  if (earlier.type != later.type)
    joined.type = ValueType::string;
  const bool is_list = !earlier.values.empty() || !later.values.empty();
  joined.values.clear();
  joined.text.clear();
  if (is_list || later.separator.empty())
    joined.values = std::move(sorted);
  else
    joined.text = join(sorted, later.separator);
  return joined;
}

/// The two definitions as one.
Definition merge(const Definition& earlier, const Definition& later, Duplicate of_set,
                 const std::string& set_name) {
  if (earlier.duplicate != later.duplicate)
    throw Error(fmt::format("the definitions of '{}' differ in `duplicate`", later.parameter.name),
                stands_in(earlier.parameter), later.parameter.place);
  switch (later.duplicate == Duplicate::none ? of_set : later.duplicate) {
    case Duplicate::concat:
      return {concatenate(earlier.parameter, later.parameter), later.duplicate};
    case Duplicate::error:
      throw Error(fmt::format("parameter '{}' is defined twice in parameter set '{}'",
                              later.parameter.name, set_name),
                  stands_in(earlier.parameter), later.parameter.place);
    case Duplicate::none:
    case Duplicate::replace:
      break;
  }
  return later;
}

/// The `duplicate` of a parameter.
Duplicate duplicate_of_parameter(const document::Node& node) {
  auto words = duplicate_words();
  words["none"] = Duplicate::none;
  return one_of(node, "duplicate", words, Duplicate::none);
}

/// The `duplicate` of a set; `replace` if it has none.
Duplicate duplicate_of_set(const document::Node& node) {
  return one_of(node, "duplicate", duplicate_words(), Duplicate::replace);
}

/// One parameter per name, in the order of their first definitions.
/// @throws Error where a second definition is not allowed, or does not fit the first
std::vector<Parameter> merge_duplicates(std::vector<Definition> definitions, Duplicate of_set,
                                        const std::string& set_name) {
  std::vector<Definition> merged;
  for (Definition& definition : definitions) {
    const auto earlier = std::ranges::find(merged, definition.parameter.name,
                                           [](const auto& one) { return one.parameter.name; });
    if (earlier == merged.end())
      merged.push_back(std::move(definition));
    else
      *earlier = merge(*earlier, definition, of_set, set_name);
  }
  std::vector<Parameter> parameters;
  for (Definition& definition : merged)
    parameters.push_back(std::move(definition.parameter));
  return parameters;
}

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
