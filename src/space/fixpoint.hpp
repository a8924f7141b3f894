#pragma once

#include "partial_combination.hpp"

#include <cstddef>
#include <functional>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>

namespace bench::space {

/// How many combinations are evaluated together: enough that a request to Python costs nothing,
/// few enough that neither side holds the whole space as text.
inline constexpr std::size_t chunk_size = 4096;

/// Whether a template waits to be multiplied out.
bool has_choice(const PartialCombination& partial);

/// Multiplies out every template of every partial combination, in order.
/// @throws Error if that makes more partial combinations than allowed
std::vector<PartialCombination> multiply(std::vector<PartialCombination> partials,
                                         const Limits& limits, const model::Step& step);

/// The variables that a partial combination knows beside its own parameters.
using ConstantsOf = std::function<Constants(const PartialCombination&)>;

/// Substitutes and evaluates what can be, until only constants, late parameters, new templates and
/// what waits for those or for a set are left. The scripts of many partial combinations are
/// evaluated together.
/// @throws Error for a failing script, unless those are kept
void settle(std::vector<PartialCombination>& partials, const ConstantsOf& constants,
            evaluate::Evaluator& evaluator, Invalid invalid);

/// @throws Error for parameters that wait for each other. For partial combinations that are settled
///         and have no templates.
void refuse_circles(const std::vector<PartialCombination>& partials);

}  // namespace bench::space
