#pragma once

#include "draft.hpp"

#include <functional>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/expand/combination.hpp>

namespace bench::expand {

/// How many combinations are evaluated together: enough that a request to Python costs nothing,
/// few enough that neither side holds the whole space as text.
inline constexpr std::size_t chunk_size = 4096;

/// Whether a template waits to be multiplied out.
bool has_choice(const Draft& draft);

/// Multiplies out every template of every draft, in order.
/// @throws Error if that makes more drafts than allowed
std::vector<Draft> multiply(std::vector<Draft> drafts, const Limits& limits,
                            const model::Step& step);

/// The variables that a draft knows beside its own parameters.
using ConstantsOf = std::function<Constants(const Draft&)>;

/// Substitutes and evaluates what can be, until only constants, late parameters, new templates and
/// what waits for those or for a set are left. The scripts of many drafts are evaluated together.
/// @throws Error for a failing script
void settle(std::vector<Draft>& drafts, const ConstantsOf& constants,
            evaluate::Evaluator& evaluator);

/// @throws Error for parameters that wait for each other. For drafts that are settled and have no
///         templates.
void refuse_circles(const std::vector<Draft>& drafts);

}  // namespace bench::expand
