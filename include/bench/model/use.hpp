#pragma once

#include <set>
#include <string>
#include <vector>

#include <bench/model/benchmark.hpp>

namespace bench::model {

/// Whether a name in a step's `use` holds parameters, so that each combination of the step may use
/// another set.
bool depends_on_parameters(const std::string& use);

/// Whether a name in a step's `use` may mean this set: it is its name or, where it holds
/// parameters, begins as its name does.
bool may_name(const std::string& use, const std::string& set);

/// The parameter sets that a name in `use` may mean, in the order of the file.
std::vector<const ParameterSet*> possible_sets(const Benchmark& benchmark, const std::string& use);

/// The parameters of all sets that the step may use, in order.
std::vector<const Parameter*> possible_parameters(const Benchmark& benchmark, const Step& step);

/// The names of these parameters.
std::set<std::string> own_parameter_names(const Benchmark& benchmark, const Step& step);

/// The parameters that a workpackage of the step may have: those of the step and of its parents.
std::set<std::string> parameter_names(const Benchmark& benchmark, const Step& step);

/// The values of a template that is plain text or a list, as they are written; none for a script.
std::vector<std::string> written_values(const Parameter& parameter);

}  // namespace bench::model
