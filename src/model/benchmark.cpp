#include "by_name.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include <bench/model/batch.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

const JobSetting* Batch::setting(const std::string& wanted) const {
  return by_name(settings, wanted);
}

const ParameterSet* Benchmark::parameter_set(const std::string& wanted) const {
  return by_name(parameter_sets, wanted);
}

const FileSet* Benchmark::file_set(const std::string& wanted) const {
  return by_name(file_sets, wanted);
}

const SubstituteSet* Benchmark::substitute_set(const std::string& wanted) const {
  return by_name(substitute_sets, wanted);
}

const PatternSet* Benchmark::pattern_set(const std::string& wanted) const {
  return by_name(pattern_sets, wanted);
}

bool Step::depends_on(const std::string& parent) const {
  return std::ranges::find(depend, parent) != depend.end();
}

const Step* Benchmark::step(const std::string& wanted) const {
  return by_name(steps, wanted);
}

std::size_t Benchmark::index_of(const std::string& step_name) const {
  return static_cast<std::size_t>(step(step_name) - steps.data());
}

const Analyser* Benchmark::analyser(const std::string& wanted) const {
  return by_name(analysers, wanted);
}

}  // namespace bench::model
