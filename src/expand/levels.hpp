#pragma once

#include "draft.hpp"

#include <functional>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/expand/expand.hpp>

namespace bench::expand {

/// Multiplies out every template of every draft, in order.
/// @throws Error if that makes more drafts than allowed
std::vector<Draft> multiply(std::vector<Draft> drafts, const Limits& limits,
                            const model::Step& step);

/// The variables that a draft knows beside its own parameters.
using ConstantsOf = std::function<const evaluate::Lookup&(const Draft&)>;

/// Substitutes and evaluates what can be, until only constants, late parameters and new templates
/// are left. The scripts of all drafts are evaluated together.
/// @throws Error for a failing script and for parameters that wait for each other
void settle(std::vector<Draft>& drafts, const ConstantsOf& constants,
            evaluate::Evaluator& evaluator);

/// The error for a script that failed.
/// @param text what was evaluated, after substitution
Error script_error(const model::Parameter& parameter, const std::string& text,
                   const std::string& problem);

}  // namespace bench::expand
