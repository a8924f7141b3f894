#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>

namespace bench::space {

/// The combinations of a step and what was left out of them.
struct Expansion {
  std::vector<Combination> combinations;
  std::size_t dropped_by_where = 0;
  std::size_t dropped_by_active = 0;
  /// Origins that gave nothing because the step redefines an inherited parameter.
  std::size_t conflicts = 0;
  std::string conflicting_parameter;  ///< Of the first conflict.
};

/// Expands a step's parameters on top of each origin.
///
/// An inherited parameter keeps its value, unless its `update_mode` says that it is evaluated again
/// from its text, templates too. The step's own definition of one that is not evaluated again must
/// be equivalent to the inherited one (see inheritance.hpp), or the origin gives nothing.
///
/// Templates (texts that hold their separator, lists) are expanded as a nested loop, the first
/// defined outermost, the last fastest; then everything else is substituted and evaluated, and
/// templates that come out of that are expanded inside the combinations so far; and so on. The
/// order is part of the contract: workpackage ids follow it. Sets whose name in `use` holds
/// parameters come in, for each combination, once those have values; then the expansion continues.
/// A name that does not become the name of a set means nothing.
///
/// @param constants the internal variables that are known before a workpackage exists
/// @param fixed values of parameters that the step's own sets define
/// @throws Error with the parameter's place: parameters that depend on each other in a circle, more
///         combinations than allowed, one name defined differently in two sets of the step; unless
///         those are kept, also a script that fails and a value that does not fit its type, and
///         with the step's place an invalid `where` or `active`
Expansion expand(const model::Benchmark& benchmark, const model::Step& step,
                 const std::vector<Origin>& origins, const evaluate::Lookup& constants,
                 evaluate::Evaluator& evaluator, const Limits& limits = {},
                 const FixedValues& fixed = {}, Invalid invalid = Invalid::refused);

/// Gives the late parameters of each combination their values. `variables[k]` knows the
/// `jube_wp_...` variables of `combinations[k]`; names that it does not know stay as text. A value
/// that holds the separator is kept as it is: the workpackage exists and is one.
/// @throws Error as `expand` does
void resolve_late(const std::vector<Combination*>& combinations,
                  const std::vector<evaluate::Lookup>& variables, evaluate::Evaluator& evaluator,
                  Invalid invalid = Invalid::refused);

/// Whether a step's `active` holds for a workpackage, where that could not be told before.
/// @param variables of the workpackage, and its parameters
/// @throws Error with the step's place if `active` is invalid
bool is_active(const model::Step& step, const evaluate::Lookup& variables,
               evaluate::Evaluator& evaluator);

/// Whether any parameter is evaluated again in each cycle.
bool changes_in_cycles(const Combination& combination);

/// Makes the parameters whose `update_mode` is `cycle` or `always` again, for one cycle of a
/// workpackage. A template keeps the value that was chosen; if that one's text holds variables they
/// get their values of this cycle.
/// @param first the internal variables in the first cycle, for which the combination was made
/// @param now those of the cycle that begins
/// @throws Error as `expand` does
void renew(Combination& combination, const evaluate::Lookup& first, const evaluate::Lookup& now,
           evaluate::Evaluator& evaluator);

}  // namespace bench::space
