#include "recovery.hpp"

#include "prepare.hpp"

#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

#include <bench/base/host.hpp>
#include <bench/schedule/orphans.hpp>
#include <bench/schedule/sentinel.hpp>

namespace bench::engine {

using schedule::Completion;
using workspace::Attempt;
using workspace::State;
using workspace::Workpackage;

namespace {

void refuse_other_host(const Attempt& attempt) {
  if (attempt.host == host_name())
    return;
  throw Error(fmt::format("workpackage {} was running on {} when its bench ended, and may run "
                          "there still",
                          attempt.workpackage, attempt.host),
              fmt::format("continue this run on {}", attempt.host));
}

}  // namespace

bool is_scheduled(const Run& run, const Workpackage& workpackage) {
  return run.platform.scheduler == platform::Scheduler::slurm &&
         part_at(run.benchmark, *run.benchmark.step(workpackage.step), workpackage.progress).script;
}

std::vector<Completion> Recovery::take_up_processes(schedule::LocalBackend& local) {
  std::set<std::string> uuids;
  std::vector<Attempt> left;
  for (const Attempt& attempt : workspace_.attempts())
    if (const Workpackage& workpackage = graph_.at(attempt.workpackage);
        workpackage.state == State::running && !is_scheduled(run_, workpackage)) {
      refuse_other_host(attempt);
      left.push_back(attempt);
      uuids.insert(attempt.uuid);
    }
  std::vector<Completion> ended;
  auto orphans = schedule::find_orphans(uuids);
  for (const Attempt& attempt : left) {
    Workpackage& workpackage = graph_.at(attempt.workpackage);
    schedule::Job job = attempt_on_disk(run_, workpackage, attempt.uuid);
    if (orphans.contains(attempt.uuid)) {
      observer_.notice(fmt::format(
          "workpackage {} still runs, started by a bench that was killed; waiting for it",
          workpackage.id));
      local.adopt(std::move(job), orphans[attempt.uuid]);
    } else if (auto told = schedule::completion_from_sentinel(job)) {
      ended.push_back(std::move(*told));
    } else {
      ledger_.come_back(workpackage, "bench was killed");
    }
  }
  return ended;
}

std::vector<Completion> Recovery::take_up_jobs(schedule::SlurmBackend& slurm) {
  std::vector<Completion> ended;
  std::map<std::string, std::string> ids;
  bool asked = false;
  for (const Attempt& attempt : workspace_.attempts()) {
    Workpackage& workpackage = graph_.at(attempt.workpackage);
    const bool under_way =
        workpackage.state == State::running || workpackage.state == State::submitted;
    if (!under_way || !is_scheduled(run_, workpackage))
      continue;
    schedule::Job job = attempt_on_disk(run_, workpackage, attempt.uuid);
    if (workpackage.state == State::submitted) {
      slurm.adopt(std::move(job), attempt.job_id);
      continue;
    }
    if (!std::exchange(asked, true))
      ids = schedule::SlurmBackend::ids_by_uuid();
    if (const auto known = ids.find(attempt.uuid); known != ids.end()) {
      ledger_.submit(workpackage, known->second);
      slurm.adopt(std::move(job), known->second);
    } else if (auto told = schedule::completion_from_sentinel(job)) {
      ended.push_back(std::move(*told));
    } else {
      ledger_.come_back(workpackage, "bench was killed before it had submitted this");
    }
  }
  return ended;
}

}  // namespace bench::engine
