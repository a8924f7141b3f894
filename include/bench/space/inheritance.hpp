#pragma once

#include <string>

#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::space {

/// Whether two definitions of a name mean the same: their texts are equal. As in JUBE, mode, type
/// and separator are not compared.
bool equivalent(const model::Parameter& a, const model::Parameter& b);

/// Whether a step evaluates a parameter that it inherits again, from its text.
/// @param own the definition in a set that the step uses, or null; where there is one, the update
///        mode of the inherited one does not count
bool is_reevaluated(const model::Parameter& inherited, const model::Parameter* own);

/// The definition that a parameter has in a step: in a set that the step uses, else in one of those
/// it depends on. Null if there is none.
/// @param values of the step's parameters, for names in `use` that hold some; without them, any set
///        that such a name may mean
const model::Parameter* definition_of(const model::Benchmark& benchmark, const model::Step& step,
                                      const std::string& name,
                                      const evaluate::Lookup& values = nullptr);

}  // namespace bench::space
