#include <fmt/core.h>

#include <bench/base/integer.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/expand/combination.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/workflow/fractions.hpp>

namespace bench::workflow {
namespace {

bool is_computed(const model::Parameter& parameter) {
  return parameter.mode != evaluate::Mode::text || parameter.text.find('$') != std::string::npos;
}

}  // namespace

void Fractions::check(const expand::Combination& combination, const IsInherited& is_inherited) {
  for (const expand::Assignment& assignment : combination.assignments)
    if (assignment.definition->type == ValueType::integer && !assignment.late)
      check(assignment, is_inherited);
}

void Fractions::check(const expand::Assignment& assignment, const IsInherited& is_inherited) {
  const model::Parameter& parameter = *assignment.definition;
  // Only these make a fraction, and most values have none of them.
  if (assignment.value.find_first_of(".eE") == std::string::npos || !is_computed(parameter))
    return;
  const auto integer = read_integer(assignment.value);
  if (!integer || integer->is_whole || is_inherited(assignment) || !told_.insert(&parameter).second)
    return;
  warnings_.push_back({fmt::format("parameter '{}' has type int and its value is '{}'",
                                   parameter.name, strip(assignment.value)),
                       fmt::format("tables show {}; use type float", integer->digits),
                       parameter.place});
}

}  // namespace bench::workflow
