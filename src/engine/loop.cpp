#include "graph.hpp"
#include "prepare.hpp"
#include "queue.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>

#include <bench/base/host.hpp>
#include <bench/base/uuid.hpp>
#include <bench/engine/loop.hpp>
#include <bench/schedule/local.hpp>
#include <bench/schedule/orphans.hpp>
#include <bench/schedule/sentinel.hpp>
#include <bench/schedule/slurm.hpp>

namespace bench::engine {
namespace {

using schedule::Completion;
using workspace::Changes;
using workspace::State;
using workspace::Workpackage;

class Loop {
 public:
  Loop(const Run& run, workspace::Workspace& workspace, const LoopOptions& options,
       Observer& observer)
      : run_(run),
        workspace_(workspace),
        options_(options),
        observer_(observer),
        graph_(run, workspace.workpackages(), evaluator_),
        queue_(run, graph_),
        local_(usable_cpus()) {
    count_all();
  }

  Standing work() {
    Changes changes;
    if (graph_.all().empty())
      take_in(graph_.make_first(), changes);
    recover(changes);
    recover_jobs(changes);
    for (const Completion& completion : slurm_.wait(0))
      conclude(completion, changes);
    for (;;) {
      release_children(changes);
      const auto claimed = stopping() ? std::vector<long long>{} : claim(changes);
      workspace_.apply(std::exchange(changes, {}));
      for (const long long id : claimed)
        start(id, changes);
      observer_.progress(counts_);
      if (stopping() && local_.active() > 0) {
        abandon(changes);
        break;
      }
      if (local_.active() == 0 && changes.empty())
        break;
      const double patience_s = changes.empty() ? 1.0 : 0.0;
      for (const Completion& completion : local_.wait(patience_s))
        conclude(completion, changes);
    }
    workspace_.apply(changes);
    observer_.progress(counts_);
    return {.counts = counts_, .interrupted = interrupted()};
  }

 private:
  bool interrupted() const { return options_.interrupted && *options_.interrupted; }
  bool stopping() const { return interrupted() || (options_.stop_at_error && any_failed_); }

  void take_in(const std::vector<Workpackage>& made, Changes& changes) {
    for (const Workpackage& workpackage : made) {
      queue_.add_ready(workpackage);
      ++count_of(workpackage);
      changes.created.push_back(workpackage);
    }
    for (const std::string& notice : graph_.take_notices())
      observer_.notice(notice);
  }

  void release_children(Changes& changes) {
    const auto released = queue_.take_released(graph_);
    if (released.empty())
      return;
    const auto made = graph_.make_children(released);
    for (const long long id : released)
      graph_.at(id).expanded = true;
    changes.expanded.insert(changes.expanded.end(), released.begin(), released.end());
    take_in(made, changes);
  }

  /// Marks as running, in the order of ids, what can start now.
  std::vector<long long> claim(Changes& changes) {
    std::vector<long long> claimed;
    for (long long id = queue_.front(); id >= 0; id = queue_.front()) {
      Workpackage& workpackage = graph_.at(id);
      const bool batch = run_.benchmark.step(workpackage.step)->batch.has_value();
      if (backend_of(workpackage).room(batch) <= claimed.size())
        break;
      set_state(workpackage, State::running);
      ++workpackage.attempts;
      queue_.started(workpackage);
      const std::string uuid = make_uuid();
      uuids_[id] = uuid;
      changes.claims.push_back({.workpackage = id, .uuid = uuid, .host = host_name()});
      claimed.push_back(id);
      if (batch && !scheduled(workpackage))
        break;
    }
    return claimed;
  }

  /// The one place where a workpackage's error does not end the run.
  void start(long long id, Changes& changes) {
    Workpackage& workpackage = graph_.at(id);
    try {
      schedule::Job job = prepare(run_, graph_, workpackage, uuids_.at(id), evaluator_);
      const std::string job_id = backend_of(workpackage).start(std::move(job));
      if (scheduled(workpackage)) {
        set_state(workpackage, State::submitted);
        changes.submissions.push_back({id, job_id});
      }
    } catch (const Error& error) {
      Completion failure;
      failure.workpackage = id;
      failure.reason = render(error);
      conclude(failure, changes);
    }
  }

  void conclude(const Completion& completion, Changes& changes) {
    Workpackage& workpackage = graph_.at(completion.workpackage);
    if (completion.interrupted) {
      come_back(workpackage, completion.reason, changes);
      return;
    }
    set_state(workpackage, completion.success ? State::done : State::failed);
    workpackage.reason = completion.reason;
    queue_.stopped(workpackage);
    uuids_.erase(workpackage.id);
    write_marker(run_, workpackage, completion.success, completion.reason);
    changes.endings.push_back({.workpackage = workpackage.id,
                               .success = completion.success,
                               .exit_code = completion.exit_code,
                               .reason = completion.reason,
                               .host = completion.host,
                               .started_unix_s = completion.started_unix_s,
                               .ended_unix_s = completion.ended_unix_s});
    if (!completion.success) {
      any_failed_ = true;
      observer_.failed(workpackage);
    }
  }

  void come_back(Workpackage& workpackage, const std::string& reason, Changes& changes) {
    set_state(workpackage, State::ready);
    queue_.stopped(workpackage);
    queue_.add_ready(workpackage);
    changes.interruptions.push_back({workpackage.id, reason});
  }

  bool scheduled(const Workpackage& workpackage) const {
    return run_.platform.scheduler == platform::Scheduler::slurm &&
           run_.benchmark.step(workpackage.step)->batch;
  }

  schedule::Backend& backend_of(const Workpackage& workpackage) {
    if (scheduled(workpackage))
      return slurm_;
    return local_;
  }

  void abandon(Changes& changes) {
    for (const long long id : local_.abandon())
      come_back(graph_.at(id), "bench was interrupted", changes);
  }

  /// Takes up the jobs that a scheduler has, also one whose submission an earlier bench did not
  /// live to record.
  void recover_jobs(Changes& changes) {
    std::map<std::string, std::string> ids;
    bool asked = false;
    for (const workspace::Attempt& attempt : workspace_.attempts()) {
      Workpackage& workpackage = graph_.at(attempt.workpackage);
      if (!scheduled(workpackage) || workpackage.has_ended() || workpackage.state == State::ready)
        continue;
      schedule::Job job = attempt_on_disk(run_, workpackage, attempt.uuid);
      if (workpackage.state == State::submitted) {
        slurm_.adopt(std::move(job), attempt.job_id);
        continue;
      }
      if (!std::exchange(asked, true))
        ids = schedule::SlurmBackend::ids_by_uuid();
      if (const auto known = ids.find(attempt.uuid); known != ids.end()) {
        set_state(workpackage, State::submitted);
        changes.submissions.push_back({workpackage.id, known->second});
        slurm_.adopt(std::move(job), known->second);
      } else if (const auto told = schedule::completion_from_sentinel(job)) {
        conclude(*told, changes);
      } else {
        come_back(workpackage, "bench was killed before it had submitted this", changes);
      }
    }
  }

  /// Settles what an earlier bench left running when it was killed: it has ended meanwhile, it
  /// still runs, or it is gone without a trace and has to be made again.
  void recover(Changes& changes) {
    std::set<std::string> uuids;
    std::vector<workspace::Attempt> left;
    for (const workspace::Attempt& attempt : workspace_.attempts())
      if (const Workpackage& workpackage = graph_.at(attempt.workpackage);
          workpackage.state == State::running && !scheduled(workpackage)) {
        refuse_other_host(attempt);
        left.push_back(attempt);
        uuids.insert(attempt.uuid);
      }
    auto orphans = schedule::find_orphans(uuids);
    for (const workspace::Attempt& attempt : left) {
      Workpackage& workpackage = graph_.at(attempt.workpackage);
      schedule::Job job = attempt_on_disk(run_, workpackage, attempt.uuid);
      if (orphans.contains(attempt.uuid)) {
        observer_.notice(fmt::format(
            "workpackage {} still runs, started by a bench that was killed; waiting for it",
            workpackage.id));
        local_.adopt(std::move(job), orphans[attempt.uuid]);
      } else if (const auto told = schedule::completion_from_sentinel(job)) {
        conclude(*told, changes);
      } else {
        come_back(workpackage, "bench was killed", changes);
      }
    }
  }

  void refuse_other_host(const workspace::Attempt& attempt) const {
    if (attempt.host == host_name())
      return;
    throw Error(fmt::format("workpackage {} was running on {} when its bench ended, and may run "
                            "there still",
                            attempt.workpackage, attempt.host),
                fmt::format("continue this run on {}", attempt.host));
  }

  void count_all() {
    for (const model::Step& step : run_.benchmark.steps)
      counts_.push_back({.step = step.name});
    for (const Workpackage& workpackage : graph_.all())
      ++count_of(workpackage);
  }

  /// The counter that the workpackage is counted in.
  long long& count_of(const Workpackage& workpackage) {
    for (workspace::StepCounts& counts : counts_)
      if (counts.step == workpackage.step)
        return counts.of(workpackage.state);
    return counts_.front().of(workpackage.state);  // every workpackage belongs to a step
  }

  void set_state(Workpackage& workpackage, State state) {
    --count_of(workpackage);
    workpackage.state = state;
    ++count_of(workpackage);
  }

  const Run& run_;
  workspace::Workspace& workspace_;
  const LoopOptions& options_;
  Observer& observer_;
  evaluate::Evaluator evaluator_;
  Graph graph_;
  Queue queue_;
  schedule::LocalBackend local_;
  schedule::SlurmBackend slurm_;
  std::unordered_map<long long, std::string> uuids_;
  std::vector<workspace::StepCounts> counts_;
  bool any_failed_ = false;
};

}  // namespace

long long Standing::failed() const {
  long long sum = 0;
  for (const auto& count : counts)
    sum += count.failed;
  return sum;
}

long long Standing::open() const {
  long long sum = 0;
  for (const auto& count : counts)
    sum += count.ready + count.running + count.submitted + count.pending;
  return sum;
}

Standing work(const Run& run, workspace::Workspace& workspace, const LoopOptions& options,
              Observer& observer) {
  return Loop(run, workspace, options, observer).work();
}

}  // namespace bench::engine
