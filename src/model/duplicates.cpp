#include "duplicates.hpp"

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

}  // namespace

Duplicate duplicate_of_parameter(const document::Node& node) {
  auto words = duplicate_words();
  words["none"] = Duplicate::none;
  return one_of(node, "duplicate", words, Duplicate::none);
}

Duplicate duplicate_of_set(const document::Node& node) {
  return one_of(node, "duplicate", duplicate_words(), Duplicate::replace);
}

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

}  // namespace bench::model
