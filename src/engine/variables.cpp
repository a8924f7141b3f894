#include "variables.hpp"

#include <algorithm>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/expand/expand.hpp>

namespace bench::engine {

namespace fs = std::filesystem;

Variables benchmark_variables(const Run& run) {
  std::string start = run.fact("started");
  std::replace(start.begin(), start.end(), ' ', 'T');
  return {{"jube_benchmark_name", run.benchmark.name},
          {"jube_benchmark_id", std::to_string(run.directory.id)},
          {"jube_benchmark_padid", workspace::padded(run.directory.id)},
          {"jube_benchmark_home", run.fact("home")},
          {"jube_benchmark_rundir", run.directory.path.string()},
          {"jube_benchmark_start", start}};
}

void add_step_variables(const model::Step& step, Variables& variables) {
  variables["jube_step_name"] = step.name;
  variables["jube_step_iterations"] = std::to_string(step.iterations);
  variables["jube_step_cycles"] = "1";
}

void add_workpackage_variables(const Run& run, const workspace::Workpackage& workpackage,
                               const std::map<long long, std::string>& parents,
                               Variables& variables) {
  const fs::path work = run.directory.path / workpackage.directory / "work";
  variables["jube_wp_id"] = std::to_string(workpackage.id);
  variables["jube_wp_padid"] = workspace::padded(workpackage.id);
  variables["jube_wp_iteration"] = std::to_string(workpackage.iteration);
  variables["jube_wp_cycle"] = "0";
  variables["jube_wp_abspath"] = work.string();
  variables["jube_wp_relpath"] = work.lexically_relative(run.fact("home")).string();
  variables["jube_wp_status"] = "RUNNING";
  for (const auto& [id, step] : parents)
    variables["jube_wp_parent_" + step + "_id"] = std::to_string(id);
}

workspace::Parameters exported_parameters(const Run& run,
                                          const workspace::Workpackage& workpackage) {
  const model::Step& step = *run.benchmark.step(workpackage.step);
  workspace::Parameters exported;
  for (const auto& [name, value] : workpackage.parameters)
    if (const auto* definition = expand::definition_of(run.benchmark, step, name);
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
    for (const auto& [known, value] : parameters)
      if (known == name)
        return &value;
    return nullptr;
  };
}

}  // namespace bench::engine
