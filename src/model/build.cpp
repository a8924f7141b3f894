#include "check.hpp"
#include "read.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/document/node.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/build.hpp>

namespace bench::model {
namespace {

using document::Node;
using evaluate::Mode;

/// Where each name stands in a list that has it once.
class Positions {
 public:
  /// Where the name stands; nothing if it is new, and the next in the list.
  std::optional<std::size_t> earlier(const std::string& name) {
    const auto [position, is_new] = positions_.try_emplace(name, positions_.size());
    return is_new ? std::nullopt : std::optional(position->second);
  }

 private:
  std::unordered_map<std::string, std::size_t> positions_;
};

FileEntry build_prepare(const Node& node) {
  FileEntry entry;
  entry.action = FileEntry::Action::prepare;
  entry.command = build_command(node);
  entry.active = entry.command.active;
  entry.base = attribute(node, "file_path_ref");
  entry.place = node.text_place;
  return entry;
}

/// A copy or link.
FileEntry build_transfer(const Node& node) {
  FileEntry entry;
  entry.action = node.name == "link" ? FileEntry::Action::link : FileEntry::Action::copy;
  entry.paths = split_names(node.text, node.value("separator"));
  entry.names = split_names(attribute(node, "name"));
  entry.source_dir = attribute(node, node.find("source_dir") ? "source_dir" : "directory");
  entry.target_dir = attribute(node, "target_dir");
  entry.internal = one_of<bool>(node, "rel_path_ref", {{"external", false}, {"internal", true}});
  entry.base = attribute(node, "file_path_ref");
  entry.active = attribute(node, "active");
  entry.place = node.text_place;
  if (entry.paths.empty())
    throw Error(Id::missing_key, fmt::format("this {} does not name a file", node.name), "",
                node.place);
  if (!entry.names.empty() && entry.names.size() != entry.paths.size())
    throw Error(Id::invalid_value,
                fmt::format("this {} has {} files and {} names", node.name, entry.paths.size(),
                            entry.names.size()),
                "give a new name to every file, or to none", place_of(node, "name"));
  return entry;
}

std::string required(const Node& node, const char* key) {
  std::string value = attribute(node, key);
  if (value.empty())
    throw Error(Id::missing_key, fmt::format("this {} has no {}", node.name, key),
                fmt::format("add `{}: ...`", key), node.place);
  return value;
}

SubstitutedFile build_file(const Node& node) {
  return {.in = required(node, "in"),
          .out = required(node, "out"),
          .append = one_of<bool>(node, "out_mode", {{"w", false}, {"a", true}}),
          .place = node.place};
}

Substitution build_substitution(const Node& node) {
  Substitution substitution;
  substitution.source = attribute(node, "source");
  if (substitution.source.empty())
    throw Error(Id::missing_key, "this sub has no source", "add `source: ...`", node.place);
  substitution.dest = node.find("dest") ? attribute(node, "dest") : std::string(strip(node.text));
  substitution.regex = attribute(node, "mode") != "text";
  substitution.place = node.place;
  return substitution;
}

/// @throws Error if an entry names no file, or has another number of new names than of files
FileSet build_file_set(const Node& node) {
  FileSet set{.name = required_name(node), .entries = {}, .place = node.place};
  for (const Node& child : node.children)
    if (child.name == "prepare")
      set.entries.push_back(build_prepare(child));
    else if (child.name == "copy" || child.name == "link")
      set.entries.push_back(build_transfer(child));
  return set;
}

/// Of two substitutions of one source the last counts, in place of the first.
/// @throws Error if a file has no `in` or `out`, or a substitution no `source`
SubstituteSet build_substitute_set(const Node& node) {
  SubstituteSet set{
      .name = required_name(node), .files = {}, .substitutions = {}, .place = node.place};
  for (const Node* file : node.all("iofile"))
    set.files.push_back(build_file(*file));
  Positions positions;
  for (const Node* sub : node.all("sub")) {
    Substitution substitution = build_substitution(*sub);
    if (const auto earlier = positions.earlier(substitution.source))
      set.substitutions[*earlier] = std::move(substitution);
    else
      set.substitutions.push_back(std::move(substitution));
  }
  return set;
}

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

std::string stands_in(const Place& earlier) {
  return fmt::format("first defined at {}:{}", earlier.file, earlier.line);
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
        Id::conflict,
        fmt::format("cannot combine the definitions of '{}': they differ in {}", later.name, what),
        stands_in(earlier.place), later.place);
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
    throw Error(Id::conflict,
                fmt::format("the definitions of '{}' differ in `duplicate`", later.parameter.name),
                stands_in(earlier.parameter.place), later.parameter.place);
  switch (later.duplicate == Duplicate::none ? of_set : later.duplicate) {
    case Duplicate::concat:
      return {concatenate(earlier.parameter, later.parameter), later.duplicate};
    case Duplicate::error:
      throw Error(Id::duplicate_name,
                  fmt::format("parameter '{}' is defined twice in parameter set '{}'",
                              later.parameter.name, set_name),
                  stands_in(earlier.parameter.place), later.parameter.place);
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
  return one_of(node, "duplicate", words);
}

/// The `duplicate` of a set; `replace` if it has none.
Duplicate duplicate_of_set(const document::Node& node) {
  return one_of(node, "duplicate", duplicate_words());
}

/// One parameter per name, in the order of their first definitions.
/// @throws Error where a second definition is not allowed, or does not fit the first
std::vector<Parameter> merge_duplicates(std::vector<Definition> definitions, Duplicate of_set,
                                        const std::string& set_name) {
  std::vector<Definition> merged;
  Positions positions;
  for (Definition& definition : definitions)
    if (const auto earlier = positions.earlier(definition.parameter.name))
      merged[*earlier] = merge(merged[*earlier], definition, of_set, set_name);
    else
      merged.push_back(std::move(definition));
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
      value_type(attribute(node, parameter.type_is_inferred ? "inferred_type" : "type"));
  parameter.mode = one_of(node, "mode", script_modes());
  if (!parameter.values.empty() && parameter.mode != Mode::text)
    throw Error(Id::conflict,
                fmt::format("parameter '{}' has a list of values and a mode", parameter.name),
                "list items are taken as written; with a mode, write the values as one text",
                place_of(node, "mode"));
  parameter.separator = node.value("separator");
  parameter.exported = node.flag("export");
  parameter.update_mode = one_of(node, "update_mode", update_modes());
  parameter.unit = attribute(node, "unit");
  parameter.place = node.text_place;
  apply_selection(node, parameter);
  return parameter;
}

Pattern build_pattern(const Node& node) {
  Pattern pattern;
  pattern.name = identifier(node);
  pattern.text = strip(node.text);
  if (attribute(node, "mode") != "pattern") {
    std::map<std::string, Mode> modes = script_modes();
    modes.erase("env");
    modes.erase("tag");
    pattern.derived = true;
    pattern.mode = one_of(node, "mode", modes);
  }
  pattern.type = value_type(attribute(node, "type"));
  pattern.unit = attribute(node, "unit");
  if (const document::Attribute* otherwise = node.find("default"))
    pattern.default_value = strip(otherwise->value);
  pattern.dotall = node.flag("dotall");
  pattern.better = better_of(node);
  pattern.place = node.text_place;
  return pattern;
}

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
  Positions positions;
  for (const Node* child : node.all("pattern")) {
    Pattern pattern = build_pattern(*child);
    if (const auto earlier = positions.earlier(pattern.name))
      set.replaced.push_back(std::exchange(set.patterns[*earlier], std::move(pattern)));
    else
      set.patterns.push_back(std::move(pattern));
  }
  return set;
}

/// Builds every child called `element` and appends it.
/// @throws Error if a name is there already
template <class Part, class Build>
void append_parts(const Node& parent, const char* element, Build build, std::vector<Part>& parts) {
  Positions positions;
  for (const Part& earlier : parts)
    positions.earlier(earlier.name);
  for (const Node* child : parent.all(element)) {
    Part part = build(*child);
    if (const auto earlier = positions.earlier(part.name))
      throw Error(Id::duplicate_name, fmt::format("{} '{}' is defined twice", element, part.name),
                  stands_in(parts[*earlier].place), part.place);
    parts.push_back(std::move(part));
  }
}

void append_sets(const Node& parent, Benchmark& benchmark) {
  append_parts(parent, "parameterset", build_parameter_set, benchmark.parameter_sets);
  append_parts(parent, "fileset", build_file_set, benchmark.file_sets);
  append_parts(parent, "substituteset", build_substitute_set, benchmark.substitute_sets);
  append_parts(parent, "patternset", build_pattern_set, benchmark.pattern_sets);
}

Benchmark build_one(const Node& root, const Node& node) {
  Benchmark benchmark;
  benchmark.name = attribute(node, "name");
  benchmark.outpath = attribute(node, "outpath");
  benchmark.comment = attribute(node, "comment");
  if (const Node* comment = node.first("comment"))
    benchmark.comment = one_line(comment->text);
  benchmark.place = node.place;
  append_sets(root, benchmark);
  append_sets(node, benchmark);
  append_parts(node, "step", build_step, benchmark.steps);
  append_parts(node, "analyser", build_analyser, benchmark.analysers);
  for (const Node* child : node.all("result"))
    benchmark.results.push_back(build_result(*child));
  return benchmark;
}

}  // namespace

std::vector<Benchmark> build(const Node& root, Diagnostics& diagnostics, bool whole_file) {
  std::vector<Benchmark> benchmarks;
  std::set<std::string> names;
  check_definitions(root, diagnostics);
  for (const Node* node : root.all("benchmark")) {
    check_definitions(*node, diagnostics);
    Benchmark benchmark = build_one(root, *node);
    if (!names.insert(benchmark.name).second)
      throw Error(Id::duplicate_name,
                  fmt::format("benchmark '{}' is defined twice", benchmark.name),
                  "JUBE would silently run only the last", place_of(*node, "name"));
    check(benchmark, *node, diagnostics);
    benchmarks.push_back(std::move(benchmark));
  }
  if (benchmarks.empty())
    throw Error(Id::missing_key, "no benchmark in this file", "add at least a `step`", root.place);
  check_unused(benchmarks, root, whole_file, diagnostics);
  return benchmarks;
}

}  // namespace bench::model
