#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/space/variables.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

namespace fs = std::filesystem;

Variables benchmark_variables(const Run& run) {
  std::string start = run.metadata.started;
  std::replace(start.begin(), start.end(), ' ', 'T');
  Variables variables = run.metadata.platform_variables;
  variables.merge(Variables{{"jube_benchmark_name", run.benchmark.name},
                            {"jube_benchmark_id", std::to_string(run.directory.id)},
                            {"jube_benchmark_padid", workspace::padded(run.directory.id)},
                            {"jube_benchmark_home", run.metadata.home},
                            {"jube_benchmark_rundir", run.directory.path.string()},
                            {"jube_benchmark_start", start}});
  return variables;
}

void add_step_variables(const model::Step& step, Variables& variables) {
  variables["jube_step_name"] = step.name;
  variables["jube_step_iterations"] = std::to_string(step.iterations);
  variables["jube_step_cycles"] = std::to_string(step.cycles);
}

void add_workpackage_variables(const Run& run, const workspace::Workpackage& workpackage,
                               const std::map<long long, std::string>& parents,
                               Variables& variables, int cycle) {
  variables["jube_wp_id"] = std::to_string(workpackage.id);
  variables["jube_wp_padid"] = workspace::padded(workpackage.id);
  variables["jube_wp_iteration"] = std::to_string(workpackage.iteration);
  variables["jube_wp_cycle"] = std::to_string(cycle);
  variables["jube_wp_attempts"] = std::to_string(workpackage.retries + 1);
  variables["jube_wp_status"] = "RUNNING";
  for (const auto& [id, step] : parents)
    variables["jube_wp_parent_" + step + "_id"] = std::to_string(id);
  const fs::path work =
      work_directory(run, workpackage, lookup_in(variables, workpackage.parameters));
  variables["jube_wp_abspath"] = work.string();
  variables["jube_wp_relpath"] = work.lexically_relative(run.metadata.home).string();
}

fs::path work_directory(const Run& run, const workspace::Workpackage& workpackage,
                        const evaluate::Lookup& lookup) {
  const std::string& own = run.benchmark.step(workpackage.step)->work_dir;
  if (own.empty())
    return run.directory.path / workpackage.directory / "work";
  const std::string text = evaluate::substitute(own, lookup);
  return (fs::path(run.metadata.home) / expand_user_and_environment(text)).lexically_normal();
}

std::size_t max_workpackages(const Run& run) {
  const auto& limit = run.metadata.max_workpackages;
  return limit ? static_cast<std::size_t>(*limit) : Limits{}.combinations;
}

evaluate::Evaluator evaluator_of(const Run& run) {
  constexpr double timeout_s = 300;
  std::set<std::string> active;
  for (const std::string& text : {run.metadata.tags, run.metadata.platform})
    for (std::string& tag : split_names(text))
      active.insert(std::move(tag));
  return evaluate::Evaluator(timeout_s, std::move(active));
}

workspace::Parameters exported_parameters(const Run& run,
                                          const workspace::Workpackage& workpackage) {
  const model::Step& step = *run.benchmark.step(workpackage.step);
  std::set<std::string> names;
  for (const model::ParameterSet& set : run.benchmark.parameter_sets)
    for (const model::Parameter& parameter : set.parameters)
      if (parameter.exported)
        names.insert(parameter.name);
  workspace::Parameters exported;
  if (names.empty())  // as mostly: this is asked for every workpackage
    return exported;
  const auto values = lookup_in(workpackage.parameters);
  for (const auto& [name, value] : workpackage.parameters)
    if (names.contains(name))
      if (const auto* definition = definition_of(run.benchmark, step, name, values);
          definition && definition->exported)
        exported.emplace_back(name, value);
  std::sort(exported.begin(), exported.end(),
            [](const auto& a, const auto& b) { return to_lower(a.first) < to_lower(b.first); });
  return exported;
}

void add_exports(const Run& run, const workspace::Workpackage& workpackage, Variables& variables) {
  std::string lines;
  std::vector<std::string> names;
  for (const auto& [name, value] : exported_parameters(run, workpackage)) {
    const bool quoted = value.size() > 1 && (value.front() == '"' || value.front() == '\'') &&
                        value.back() == value.front();
    lines += quoted ? fmt::format("export {}={}\n", name, value)
                    : fmt::format("export {}=\"{}\"\n", name, replace_all(value, "\"", "\\\""));
    names.push_back(name);
  }
  variables["jube_wp_envstr"] = lines;
  variables["jube_wp_envlist"] = join(names, ",");
}

evaluate::Lookup lookup_in(const Variables& variables) {
  static const workspace::Parameters none;
  return lookup_in(variables, none);
}

evaluate::Lookup lookup_in(const Variables& variables, const workspace::Parameters& parameters) {
  return [&](std::string_view name) -> const std::string* {
    if (const auto found = variables.find(name); found != variables.end())
      return &found->second;
    return workspace::value_of(parameters, name);
  };
}

}  // namespace bench::space
