#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include <bench/insight/run_state.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::insight {
namespace {

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
