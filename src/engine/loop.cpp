#include "course.hpp"
#include "graph.hpp"
#include "ledger.hpp"
#include "part.hpp"
#include "prepare.hpp"
#include "queue.hpp"
#include "recovery.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/core.h>

#include <bench/base/host.hpp>
#include <bench/engine/loop.hpp>
#include <bench/schedule/local.hpp>
#include <bench/schedule/slurm.hpp>

namespace bench::engine {
namespace {

using schedule::Completion;
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
        evaluator_(evaluator_of(run)),
        graph_(run, workspace.workpackages(), evaluator_),
        queue_(run, graph_),
        ledger_(run, graph_, queue_, observer),
        course_(run, workspace, graph_, queue_, ledger_, evaluator_),
        local_(usable_cpus()) {}

  Standing work() {
    take_up();
    for (;;) {
      release_children();
      course_.pass_barriers();
      const auto claimed = stopping() ? std::vector<long long>{} : claim();
      workspace_.apply(ledger_.take_changes());
      for (const long long id : claimed)
        start(id);
      observer_.progress(ledger_.counts());
      if (stopping() && local_.active() > 0) {
        for (const long long id : local_.abandon())
          ledger_.come_back(graph_.at(id), "bench was interrupted");
        break;
      }
      if (local_.active() == 0 && !ledger_.has_changes())
        break;
      const double patience_s = ledger_.has_changes() ? 0.0 : 1.0;
      for (const Completion& completion : local_.wait(patience_s))
        conclude(completion);
    }
    workspace_.apply(ledger_.take_changes());
    observer_.progress(ledger_.counts());
    for (const std::string& notice : graph_.take_notices())
      observer_.notice(notice);
    return {.counts = ledger_.counts(), .interrupted = interrupted()};
  }

 private:
  bool interrupted() const { return options_.interrupted && *options_.interrupted; }
  bool stopping() const {
    return interrupted() || (options_.stop_at_error && ledger_.any_failed());
  }

  /// Everything that has happened since an earlier bench worked on this run.
  void take_up() {
    if (graph_.all().empty())
      ledger_.take_in(graph_.make_first());
    Recovery recovery(run_, workspace_, graph_, ledger_, observer_);
    for (const Completion& completion : recovery.take_up_processes(local_))
      conclude(completion);
    for (const Completion& completion : recovery.take_up_jobs(slurm_))
      conclude(completion);
    for (const Completion& completion : slurm_.wait(0))
      conclude(completion);
    for (const Workpackage& workpackage : graph_.all())
      if (workpackage.state == State::pending)
        in_its_own_name(workpackage.id, [&](Workpackage& one) { course_.look_again(one); });
  }

  void release_children() {
    const auto released = queue_.take_released(graph_);
    if (released.empty())
      return;
    const auto made = make_children(graph_.couple(released));
    ledger_.mark_expanded(released);
    ledger_.take_in(made);
  }

  /// One failed child stands for those that cannot be made, for example because a script fails on
  /// what the parents left. Halves, so that a few bad ones among many cost little.
  std::vector<Workpackage> make_children(std::span<const Graph::Couple> couples) {
    try {
      return graph_.make_children(couples);
    } catch (const Error& error) {
      if (graph_.is_full())
        throw;
      if (couples.size() == 1)
        return {graph_.make_failed_child(couples.front(), render(error))};
    }
    std::vector<Workpackage> made = make_children(couples.first(couples.size() / 2));
    std::ranges::move(make_children(couples.subspan(couples.size() / 2)), std::back_inserter(made));
    return made;
  }

  /// Marks as running, in the order of ids, what can start now.
  std::vector<long long> claim() {
    std::vector<long long> claimed;
    for (long long id = queue_.front(); id >= 0; id = queue_.front()) {
      Workpackage& workpackage = graph_.at(id);
      const bool script =
          part_at(run_.benchmark, *run_.benchmark.step(workpackage.step), workpackage.progress)
              .script;
      if (backend_of(workpackage).room(script) <= claimed.size())
        break;
      ledger_.claim(workpackage);
      claimed.push_back(id);
      if (script && !is_scheduled(run_, workpackage))
        break;
    }
    return claimed;
  }

  void start(long long id) {
    in_its_own_name(id, [&](Workpackage& workpackage) {
      schedule::Job job = prepare(scope_of(run_, graph_, workpackage, evaluator_), graph_,
                                  ledger_.uuid(id), course_.inherited_by(workpackage));
      const bool scheduled = job.is_batch() && is_scheduled(run_, workpackage);
      if (!scheduled)
        observer_.started(job);
      const std::string job_id = backend_of(workpackage).start(std::move(job));
      if (scheduled)
        ledger_.submit(workpackage, job_id);
    });
  }

  void conclude(const Completion& completion) {
    observer_.stopped(completion.workpackage);
    in_its_own_name(completion.workpackage,
                    [&](Workpackage& workpackage) { course_.conclude(workpackage, completion); });
  }

  /// A workpackage's error does not end the run.
  template <class Action>
  void in_its_own_name(long long id, Action action) {
    Workpackage& workpackage = graph_.at(id);
    try {
      action(workpackage);
    } catch (const Error& error) {
      Completion failure;
      failure.workpackage = id;
      failure.reason = render(error);
      failure.host = host_name();
      observer_.stopped(id);
      ledger_.end(workpackage, failure);
    }
  }

  schedule::Backend& backend_of(const Workpackage& workpackage) {
    if (is_scheduled(run_, workpackage))
      return slurm_;
    return local_;
  }

  const Run& run_;
  workspace::Workspace& workspace_;
  const LoopOptions& options_;
  Observer& observer_;
  evaluate::Evaluator evaluator_;
  Graph graph_;
  Queue queue_;
  Ledger ledger_;
  Course course_;
  schedule::LocalBackend local_;
  schedule::SlurmBackend slurm_;
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
