#include <string>
#include <vector>

#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/use.hpp>
#include <bench/space/inheritance.hpp>

namespace bench::space {
namespace {

using model::UpdateMode;

/// The sets that a name in `use` means, or may mean where the values are not known.
std::vector<const model::ParameterSet*> sets_of(const model::Benchmark& benchmark,
                                                const std::string& use,
                                                const evaluate::Lookup& values) {
  return model::possible_sets(benchmark, values ? evaluate::substitute(use, values) : use);
}

}  // namespace

bool equivalent(const model::Parameter& a, const model::Parameter& b) {
  return a.text == b.text && a.values == b.values;
}

bool is_reevaluated(const model::Parameter& inherited, const model::Parameter* own) {
  const UpdateMode mode = own ? own->update_mode : inherited.update_mode;
  return mode == UpdateMode::step || mode == UpdateMode::always || (own && mode == UpdateMode::use);
}

const model::Parameter* definition_of(const model::Benchmark& benchmark, const model::Step& step,
                                      const std::string& name, const evaluate::Lookup& values) {
  for (const std::string& use : step.use)
    for (const model::ParameterSet* set : sets_of(benchmark, use, values))
      for (const model::Parameter& parameter : set->parameters)
        if (parameter.name == name)
          return &parameter;
  for (const std::string& parent : step.depend)
    if (const auto* found = definition_of(benchmark, *benchmark.step(parent), name, values))
      return found;
  return nullptr;
}

}  // namespace bench::space
