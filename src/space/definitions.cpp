#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/definitions.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

bool equivalent(const model::Parameter& a, const model::Parameter& b) {
  return a.text == b.text && a.values == b.values;
}

bool is_reevaluated(const model::Parameter& inherited, const model::Parameter* own) {
  using model::UpdateMode;
  const UpdateMode mode = own ? own->update_mode : inherited.update_mode;
  return mode == UpdateMode::step || mode == UpdateMode::always || (own && mode == UpdateMode::use);
}

evaluate::Lookup lookup_in(const workspace::Parameters& parameters) {
  return [&](std::string_view name) { return workspace::value_of(parameters, name); };
}

const model::Parameter* own_definition(const model::Benchmark& benchmark, const model::Step& step,
                                       const std::string& name, const evaluate::Lookup& values) {
  for (const std::string& use : step.use)
    for (const model::ParameterSet* set :
         model::possible_sets(benchmark, values ? evaluate::substitute(use, values) : use))
      for (const model::Parameter& parameter : set->parameters)
        if (parameter.name == name)
          return &parameter;
  return nullptr;
}

const model::Parameter* definition_of(const model::Benchmark& benchmark, const model::Step& step,
                                      const std::string& name, const evaluate::Lookup& values) {
  if (const auto* own = own_definition(benchmark, step, name, values))
    return own;
  for (const std::string& parent : step.depend)
    if (const auto* found = definition_of(benchmark, *benchmark.step(parent), name, values))
      return found;
  return nullptr;
}

namespace {

bool varies(const model::Benchmark& benchmark, const model::Step& step) {
  return std::ranges::any_of(step.use, model::depends_on_parameters) ||
         std::ranges::any_of(step.depend, [&](const std::string& parent) {
           return varies(benchmark, *benchmark.step(parent));
         });
}

}  // namespace

Definitions::Definitions(const model::Benchmark& benchmark) : benchmark_(benchmark) {
  for (const model::Step& step : benchmark.steps)
    varies_[step.name] = varies(benchmark, step);
}

const model::Parameter* Definitions::of(const workspace::Workpackage& workpackage,
                                        const std::string& name) const {
  const auto look_up = [&] {
    return definition_of(benchmark_, *benchmark_.step(workpackage.step), name,
                         lookup_in(workpackage.parameters));
  };
  if (varies_.at(workpackage.step))
    return look_up();
  const auto [found, is_new] = known_[workpackage.step].try_emplace(name, nullptr);
  if (is_new)
    found->second = look_up();
  return found->second;
}

namespace {

/// By name: several sets may define one.
using ByName = std::map<std::string, std::vector<const model::Parameter*>>;

ByName definitions_of(const model::Benchmark& benchmark) {
  ByName all;
  for (const model::ParameterSet& set : benchmark.parameter_sets)
    for (const model::Parameter& parameter : set.parameters)
      all[parameter.name].push_back(&parameter);
  return all;
}

bool same(const model::Parameter* a, const model::Parameter* b) {
  return a->text == b->text && a->values == b->values && a->mode == b->mode &&
         a->separator == b->separator && a->type == b->type;
}

/// Adds the names of which a definition names one of them, until there is none.
void add_dependents(const ByName& definitions, std::set<std::string>& names) {
  const auto depends = [&](const model::Parameter* definition) {
    return std::ranges::any_of(names_behind(*definition),
                               [&](const std::string& name) { return names.contains(name); });
  };
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& [name, all] : definitions)
      if (!names.contains(name) && std::ranges::any_of(all, depends))
        grows = names.insert(name).second;
  }
}

}  // namespace

std::vector<std::string> names_behind(const model::Parameter& definition) {
  std::vector<std::string> names = evaluate::names_in(definition.text);
  for (const std::string& value : definition.values)
    for (const std::string& name : evaluate::names_in(value))
      names.push_back(name);
  return names;
}

std::set<std::string> unchanged_scripts(const model::Benchmark& before,
                                        const model::Benchmark& now) {
  const ByName old = definitions_of(before);
  const ByName definitions = definitions_of(now);
  std::set<std::string> scripts;
  std::set<std::string> changed;
  for (const auto& [name, all] : definitions) {
    if (std::ranges::any_of(all, [](const auto* one) {
          return one->mode != evaluate::Mode::text && one->mode != evaluate::Mode::tag;
        }))
      scripts.insert(name);
    const auto known = old.find(name);
    if (known == old.end() || !std::ranges::equal(known->second, all, same))
      changed.insert(name);
  }
  add_dependents(definitions, scripts);
  add_dependents(definitions, changed);
  for (const std::string& name : changed)
    scripts.erase(name);
  return scripts;
}

}  // namespace bench::space
