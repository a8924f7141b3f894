#include "variables.hpp"

#include <algorithm>
#include <set>

#include <bench/base/error.hpp>
#include <bench/engine/inspect.hpp>

namespace bench::engine {

namespace fs = std::filesystem;
using workspace::State;
using workspace::Workpackage;

namespace {

std::map<long long, std::string> parent_steps(const std::vector<Workpackage>& all,
                                              const Workpackage& workpackage) {
  std::map<long long, std::string> steps;
  for (const long long id : workpackage.parents) {
    const auto parent = std::ranges::lower_bound(all, id, {}, &Workpackage::id);
    if (parent != all.end() && parent->id == id)
      steps[id] = parent->step;
  }
  return steps;
}

const char* status_of(const Workpackage& workpackage) {
  if (workpackage.state == State::done)
    return "DONE";
  return workpackage.state == State::failed ? "ERROR" : "RUNNING";
}

Variables variables_of(const Run& run, const std::vector<Workpackage>& all,
                       const Workpackage& workpackage) {
  Variables variables = benchmark_variables(run);
  add_step_variables(*run.benchmark.step(workpackage.step), variables);
  add_workpackage_variables(run, workpackage, parent_steps(all, workpackage), variables);
  add_exports(run, workpackage, variables);
  variables["jube_wp_status"] = status_of(workpackage);
  return variables;
}

}  // namespace

Inspection::Inspection(const Run& run, std::vector<Workpackage> all)
    : run_(run), all_(std::move(all)) {}

workspace::Parameters Inspection::internal_variables(const Workpackage& workpackage) const {
  const Variables variables = variables_of(run_, all_, workpackage);
  return {variables.begin(), variables.end()};
}

std::vector<long long> Inspection::children(long long id) const {
  std::vector<long long> ids;
  for (const Workpackage& workpackage : all_)
    if (std::ranges::binary_search(workpackage.parents, id))
      ids.push_back(workpackage.id);
  return ids;
}

std::vector<fs::path> Inspection::output_files(const Workpackage& workpackage,
                                               bool standard_error) const {
  const model::Step& step = *run_.benchmark.step(workpackage.step);
  const Variables variables = variables_of(run_, all_, workpackage);
  const auto substituted = [&](const std::string& text) {
    return evaluate::substitute(text, lookup_in(variables, workpackage.parameters));
  };
  std::set<fs::path> files;
  if (step.batch)
    files.insert(run_.directory.path / workpackage.directory / "work" /
                 (standard_error ? "stderr" : "stdout"));
  else
    for (const model::Command& command : step.commands)
      files.insert(fs::path(variables.at("jube_wp_abspath")) / substituted(command.work_dir) /
                   substituted(standard_error ? command.stderr_file : command.stdout_file));
  std::error_code absent;
  std::vector<fs::path> existing;
  for (const fs::path& file : files)
    if (fs::is_regular_file(file, absent))
      existing.push_back(file.lexically_normal());
  std::ranges::sort(existing);
  return existing;
}

}  // namespace bench::engine
