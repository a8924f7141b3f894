#include "check.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/integer.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {
namespace {

void check_patterns(const PatternSet& set, Diagnostics& diagnostics) {
  for (const Pattern& pattern : set.replaced) {
    const auto last = std::ranges::find(set.patterns, pattern.name, &Pattern::name);
    diagnostics.warn(
        Id::duplicate_name,
        fmt::format("pattern '{}' is defined twice in pattern set '{}'", pattern.name, set.name),
        fmt::format("the last definition is used, in line {}", last->place.line), pattern.place);
  }
  for (const Pattern& pattern : set.patterns)
    if (pattern.text.empty() && !pattern.derived)
      diagnostics.warn(Id::surprising_value,
                       fmt::format("pattern '{}' is empty and matches nothing", pattern.name), "",
                       pattern.place);
}

/// The values of a parameter that stand in the file as they are.
std::vector<std::string> written_values(const Parameter& parameter) {
  if (!parameter.values.empty())
    return parameter.values;
  if (parameter.mode != evaluate::Mode::text)
    return {};
  return split_names(parameter.text, parameter.separator);
}

void check_integers(const Parameter& parameter, Diagnostics& diagnostics) {
  if (parameter.type != ValueType::integer)
    return;
  for (const std::string& value : written_values(parameter))
    if (const auto integer = read_integer(value); integer && !integer->is_whole)
      diagnostics.warn(
          Id::surprising_value,
          fmt::format("parameter '{}' has type int and the value '{}'", parameter.name, value),
          fmt::format("tables show {}; use type float", integer->digits), parameter.place);
}

}  // namespace

void check_values(const Benchmark& benchmark, Diagnostics& diagnostics) {
  for (const PatternSet& set : benchmark.pattern_sets)
    check_patterns(set, diagnostics);
  for (const ParameterSet& set : benchmark.parameter_sets)
    for (const Parameter& parameter : set.parameters)
      check_integers(parameter, diagnostics);
}

}  // namespace bench::model
