#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include <bench/base/integer.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/computed_values.hpp>

namespace bench::workflow {
namespace {

using evaluate::Mode;

/// What `to_valid_utf8` puts in the place of a byte that is not UTF-8.
constexpr std::string_view replacement = "\xEF\xBF\xBD";

bool is_computed(const model::Parameter& parameter) {
  return parameter.mode != Mode::text || parameter.text.find('$') != std::string::npos;
}

/// Whether its value comes from outside of the input, which is UTF-8.
bool is_read(const model::Parameter& parameter) {
  return parameter.mode != Mode::text && parameter.mode != Mode::tag;
}

/// Only these make a fraction, and most values have none of them.
bool may_have_fraction(const expand::Assignment& assignment) {
  return assignment.definition->type == ValueType::integer && is_computed(*assignment.definition) &&
         assignment.value.find_first_of(".eE") != std::string::npos;
}

}  // namespace

void ComputedValues::check(const expand::Combination& combination,
                           const IsInherited& is_inherited) {
  for (const expand::Assignment& assignment : combination.assignments) {
    if (assignment.late)
      continue;
    const model::Parameter& parameter = *assignment.definition;
    if (may_have_fraction(assignment)) {
      if (const auto integer = read_integer(assignment.value); integer && !integer->is_whole)
        warn(assignment, is_inherited,
             fmt::format("parameter '{}' has type int and its value is '{}'", parameter.name,
                         strip(assignment.value)),
             fmt::format("tables show {}; use type float", integer->digits));
    } else if (is_read(parameter) && assignment.value.find(replacement) != std::string::npos) {
      warn(assignment, is_inherited,
           fmt::format("the value of parameter '{}' has bytes that are not UTF-8, which bench "
                       "cannot keep: it is '{}'",
                       parameter.name, one_line(strip(assignment.value))),
           "make it UTF-8, as with `| iconv -f latin1 -t utf-8` for Latin-1");
    }
  }
}

void ComputedValues::warn(const expand::Assignment& assignment, const IsInherited& is_inherited,
                          std::string message, std::string hint) {
  if (!is_inherited(assignment) && told_.insert(assignment.definition).second)
    warnings_.push_back(
        {Id::surprising_value, std::move(message), std::move(hint), assignment.definition->place});
}

}  // namespace bench::workflow
