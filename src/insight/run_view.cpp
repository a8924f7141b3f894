#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/time.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/nodes.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/space/variables.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::insight {
namespace {

namespace fs = std::filesystem;
using workspace::State;
using workspace::Workpackage;

/// JUBE's variables in the order of its documentation. Those that only bench has come last.
constexpr std::array<std::string_view, 19> variables_of_jube{
    "jube_benchmark_name",   "jube_benchmark_id",    "jube_benchmark_padid", "jube_benchmark_home",
    "jube_benchmark_rundir", "jube_benchmark_start", "jube_step_name",       "jube_step_iterations",
    "jube_step_cycles",      "jube_wp_id",           "jube_wp_padid",        "jube_wp_iteration",
    "jube_wp_cycle",         "jube_wp_relpath",      "jube_wp_abspath",      "jube_wp_parent_",
    "jube_wp_envstr",        "jube_wp_envlist",      "jube_wp_status"};

auto rank_of(std::string_view name) {
  constexpr std::string_view parent = "jube_wp_parent_";
  return std::ranges::find(variables_of_jube, name.starts_with(parent) ? parent : name) -
         variables_of_jube.begin();
}

const char* status_of(const Workpackage& workpackage) {
  if (workpackage.state == State::done)
    return "DONE";
  if (workpackage.state == State::skipped)
    return "SKIPPED";
  return workpackage.state == State::failed ? "ERROR" : "RUNNING";
}

space::Variables variables_of(const space::Run& run, const RunView& view,
                              const Workpackage& workpackage) {
  std::map<long long, std::string> parents;
  for (const long long id : workpackage.parents)
    parents[id] = view.at(id).step;
  space::Variables variables = space::benchmark_variables(run);
  space::add_step_variables(*run.benchmark.step(workpackage.step), variables);
  const bool waits = workpackage.state == workspace::State::waiting;
  space::add_workpackage_variables(run, workpackage, parents, variables,
                                   waits ? workpackage.progress.cycle : 0);
  space::add_exports(run, workpackage, variables);
  variables["jube_wp_status"] = status_of(workpackage);
  return variables;
}

/// Whether a workpackage waits for a file. Those at a barrier are `waiting`, too, but only a bench
/// takes them on.
bool waits_for_file(const workspace::RunDirectory& directory) {
  auto workspace = workspace::Workspace::open(directory.path, workspace::Workspace::Access::read);
  const space::Run run = space::load_run(directory, workspace);
  if (run.metadata.jube_version)
    return true;  // JUBE does not record at which command
  for (const auto& [name, commands] : workspace.waiting_at()) {
    const model::Step* step = run.benchmark.step(name);
    for (const int command : commands)
      if (!step || !space::is_barrier(*step, command))
        return true;
  }
  return false;
}

}  // namespace

RunView::RunView(const space::Run& run, const workspace::Workspace& workspace)
    : RunView(run, workspace, workspace.workpackages(), workspace.attempts()) {}

RunView::RunView(const space::Run& run, const workspace::Workspace& workspace,
                 std::vector<Workpackage> workpackages, std::vector<workspace::Attempt> attempts)
    : run_(run),
      all_(std::move(workpackages)),
      failed_nodes_(space::failed_nodes(workspace.submitted_attempts())) {
  for (workspace::Attempt& attempt : attempts)
    attempts_[attempt.workpackage] = std::move(attempt);
  for (const Workpackage& workpackage : all_)
    for (const long long parent : workpackage.parents)
      children_[parent].push_back(workpackage.id);
}

const Workpackage& RunView::at(long long id) const {
  const auto found = std::ranges::lower_bound(all_, id, {}, &Workpackage::id);
  if (found == all_.end() || found->id != id)
    throw Error(Id::unknown_run, fmt::format("run {} has no workpackage {}", run_.directory.id, id),
                all_.empty() ? ""
                             : fmt::format("its workpackages are {} to {}", all_.front().id,
                                           all_.back().id));
  return *found;
}

workspace::Parameters RunView::internal_variables(const Workpackage& workpackage) const {
  const space::Variables variables = variables_of(run_, *this, workpackage);
  workspace::Parameters sorted{variables.begin(), variables.end()};
  std::ranges::stable_sort(sorted, {},
                           [](const auto& variable) { return rank_of(variable.first); });
  return sorted;
}

const std::vector<long long>& RunView::children(long long id) const {
  static const std::vector<long long> none;
  const auto found = children_.find(id);
  return found == children_.end() ? none : found->second;
}

const workspace::Attempt* RunView::attempt(long long id) const {
  const auto found = attempts_.find(id);
  return found == attempts_.end() ? nullptr : &found->second;
}

std::vector<fs::path> RunView::output_files(const Workpackage& workpackage,
                                            bool standard_error) const {
  evaluate::Evaluator evaluator;
  const space::RenderContext context{.run = run_,
                                     .step = *run_.benchmark.step(workpackage.step),
                                     .workpackage = workpackage,
                                     .variables = variables_of(run_, *this, workpackage),
                                     .evaluator = evaluator};
  std::set<fs::path> files;
  if (context.step.batch)
    files.insert(context.work() / (standard_error ? "stderr" : "stdout"));
  else
    for (const model::Command& command : context.step.commands)
      files.insert((command.shared ? context.shared() : context.work()) /
                   context.substitute(standard_error ? command.stderr_file : command.stdout_file));
  std::set<fs::path> existing;
  for (const fs::path& file : files)
    if (space::open_output(run_, file).valid())
      existing.insert(file.lexically_normal());
  return {existing.begin(), existing.end()};
}

std::vector<std::string> RunView::failed_nodes(long long id) const {
  const auto found = failed_nodes_.find(id);
  return found == failed_nodes_.end() ? std::vector<std::string>{} : found->second;
}

std::string last_change(const workspace::Workspace& workspace) {
  const auto unix_s = last_change_unix_s(workspace);
  return unix_s ? local_time_at(*unix_s) : workspace.fact("last_change");
}

std::optional<double> last_change_unix_s(const workspace::Workspace& workspace) {
  const auto facts = workspace.facts();
  if (const auto noted = facts.find("last_change"); noted != facts.end())  // by JUBE
    return parse_local_time(noted->second);
  if (const auto unix_s = workspace.last_change_unix_s())
    return unix_s;
  return space::start_unix_s(space::metadata_from(facts), workspace);
}

std::string started(const workspace::Workspace& workspace) {
  space::RunMetadata metadata = space::metadata_from(workspace.facts());
  metadata.started_unix_s = space::start_unix_s(metadata, workspace);
  return space::start_for_people(metadata);
}

std::string_view name_of(RunState state) {
  constexpr std::array<std::string_view, 4> words{"running", "stopped", "finished", "failed"};
  return words[static_cast<std::size_t>(state)];
}

RunState run_state(const workspace::RunDirectory& run,
                   const std::vector<workspace::StepCounts>& steps) {
  const workspace::StepCounts sum = workspace::sum_of(steps);
  const bool has_ended = sum.all() == sum.ended();
  if (const auto worker = workspace::worker_of(run.path);
      (worker && (worker->sure || !has_ended)) || sum.submitted > 0 ||
      (sum.waiting > 0 && waits_for_file(run)))
    return RunState::running;
  if (!has_ended)
    return RunState::stopped;
  return sum.failed > 0 ? RunState::failed : RunState::finished;
}

}  // namespace bench::insight
