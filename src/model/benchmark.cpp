#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {
namespace {

/// The element called `name`, or null. Linear: a benchmark has a handful of each kind.
template <class Named>
const Named* by_name(const std::vector<Named>& all, const std::string& name) {
  for (const Named& one : all)
    if (one.name == name)
      return &one;
  return nullptr;
}

}  // namespace

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

std::set<std::string> Analyser::pattern_sets() const {
  std::set<std::string> sets(use.begin(), use.end());
  for (const Analysis& analysis : analyses)
    for (const AnalysedFile& file : analysis.files)
      sets.insert(file.use.begin(), file.use.end());
  return sets;
}

std::vector<const Column*> columns_of(const Result& result) {
  std::vector<const Column*> all;
  const auto add = [&](const std::vector<Column>& columns) {
    for (const Column& column : columns)
      all.push_back(&column);
  };
  for (const Table& table : result.tables)
    add(table.columns);
  for (const Database& database : result.databases)
    add(database.keys);
  for (const Syslog& syslog : result.syslogs)
    add(syslog.keys);
  return all;
}

namespace {

struct Predefined {
  std::string_view name;
  std::string expression;
};

const std::array<Predefined, 7>& predefined() {
  static const std::array<Predefined, 7> all{{
      {"jube_pat_int", R"(([+-]?\d+))"},
      {"jube_pat_nint", R"((?:[+-]?\d+))"},
      {"jube_pat_fp", R"(([+-]?(?:\d*\.?\d+(?:[eE][-+]?\d+)?|\d+\.)))"},
      {"jube_pat_nfp", R"((?:[+-]?(?:\d*\.?\d+(?:[eE][-+]?\d+)?|\d+\.)))"},
      {"jube_pat_wrd", R"((\S+))"},
      {"jube_pat_nwrd", R"((?:\S+))"},
      {"jube_pat_bl", R"((?:\s+))"},
  }};
  return all;
}

}  // namespace

const std::string* predefined_pattern(std::string_view name) {
  const auto found = std::ranges::find(predefined(), name, &Predefined::name);
  return found == predefined().end() ? nullptr : &found->expression;
}

std::vector<std::string> predefined_pattern_names() {
  std::vector<std::string> names;
  for (const Predefined& one : predefined())
    names.emplace_back(one.name);
  return names;
}

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
