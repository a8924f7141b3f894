#include <set>
#include <string>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/use.hpp>

namespace bench::model {

bool depends_on_parameters(const std::string& use) {
  return use.find('$') != std::string::npos;
}

bool may_name(const std::string& use, const std::string& set) {
  return depends_on_parameters(use) ? set.starts_with(use.substr(0, use.find('$'))) : use == set;
}

std::vector<const ParameterSet*> possible_sets(const Benchmark& benchmark, const std::string& use) {
  std::vector<const ParameterSet*> sets;
  for (const ParameterSet& set : benchmark.parameter_sets)
    if (may_name(use, set.name))
      sets.push_back(&set);
  return sets;
}

std::vector<const Parameter*> possible_parameters(const Benchmark& benchmark, const Step& step) {
  std::vector<const Parameter*> parameters;
  for (const std::string& use : step.use)
    for (const ParameterSet* set : possible_sets(benchmark, use))
      for (const Parameter& parameter : set->parameters)
        parameters.push_back(&parameter);
  return parameters;
}

std::set<std::string> own_parameter_names(const Benchmark& benchmark, const Step& step) {
  std::set<std::string> names;
  for (const Parameter* parameter : possible_parameters(benchmark, step))
    names.insert(parameter->name);
  return names;
}

std::set<std::string> parameter_names(const Benchmark& benchmark, const Step& step) {
  std::set<std::string> names = own_parameter_names(benchmark, step);
  for (const std::string& parent : step.depend)
    names.merge(parameter_names(benchmark, *benchmark.step(parent)));
  return names;
}

std::vector<std::string> written_values(const Parameter& parameter) {
  if (!parameter.values.empty() || parameter.mode != evaluate::Mode::text)
    return parameter.values;
  return split_values(parameter.text, parameter.separator);
}

}  // namespace bench::model
