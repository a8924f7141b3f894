#include "admission.hpp"
#include "chain.hpp"
#include "journal.hpp"
#include "pruner.hpp"
#include "recovery.hpp"
#include "repeater.hpp"
#include "same_nodes.hpp"
#include "searcher.hpp"
#include "sequencer.hpp"
#include "state_store.hpp"
#include "submission.hpp"
#include "submitter.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/outage.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/machine/local.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/loop.hpp>
#include <bench/run/observer.hpp>
#include <bench/run/step_jobs.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/space/variables.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

long long RunStatus::failed() const {
  return sum_of(counts).failed;
}

long long RunStatus::open() const {
  const workspace::StepCounts sum = sum_of(counts);
  return sum.all() - sum.ended();
}

std::vector<workspace::StepCounts> counts_by_step(const space::Run& run,
                                                  const workspace::Workspace& workspace) {
  const auto counted = workspace.counts();
  std::vector<workspace::StepCounts> counts;
  for (const model::Step& step : run.benchmark.steps) {
    const auto found = std::ranges::find(counted, step.name, &workspace::StepCounts::step);
    counts.push_back(found != counted.end() ? *found : workspace::StepCounts{.step = step.name});
  }
  return counts;
}

std::optional<RunStatus> status_if_finished(const space::Run& run,
                                            const workspace::Workspace& workspace) {
  // Workpackages that have ended may lead to new ones.
  if (std::ranges::any_of(run.benchmark.steps,
                          [](const model::Step& step) { return step.repetition || step.search; }))
    return std::nullopt;
  std::set<std::string> with_children;
  for (const model::Step& step : run.benchmark.steps)
    with_children.insert(step.depend.begin(), step.depend.end());
  if (!workspace.is_finished(with_children))
    return std::nullopt;
  RunStatus status;
  status.counts = counts_by_step(run, workspace);
  return status;
}

std::vector<workspace::StepCounts> with_running_jobs(
    std::vector<workspace::StepCounts> counts, const std::map<std::string, long long>& running) {
  for (workspace::StepCounts& step : counts)
    if (const auto found = running.find(step.step); found != running.end()) {
      const long long moved = std::min(step.submitted, found->second);
      step.submitted -= moved;
      step.running += moved;
    }
  return counts;
}

namespace {

using machine::Completion;
using workspace::State;
using workspace::Workpackage;

/// Publishes an event that the store has applied: to the observer, and in the directory of the
/// workpackage.
void announce(const workspace::Event& event, const space::Run& run, const StateStore& store,
              Observer& observer) {
  if (const auto* added = added_by(event)) {
    for (const Workpackage& child : *added)
      if (child.state == State::failed)
        observer.failed(child);
  } else if (const auto* ended = std::get_if<workspace::Ended>(&event)) {
    const Workpackage& workpackage = store.at(ended->workpackage);
    const bool success = workpackage.state == State::done;
    space::write_marker(run, workpackage, success, ended->attempt.reason);
    if (!success)
      observer.failed(workpackage);
  } else if (const auto* retried = std::get_if<workspace::Retried>(&event)) {
    observer.repeated(store.at(retried->workpackage), retried->attempt.reason);
  }
}

/// Skips the workpackages of the given steps that are not at a wanted point. All iterations of a
/// combination share the point of the first one.
void skip_unselected(const std::map<std::string, std::vector<workspace::Parameters>>& only,
                     const space::Run& run, StateStore& store) {
  for (const auto& [name, points] : only)
    for (const long long id : store.members(*run.benchmark.step(name))) {
      const Workpackage& workpackage = store.at(id);
      const workspace::Parameters& own = store.at(workpackage.combination).parameters;
      const auto is_there = [&](const auto& point) { return workspace::is_at(own, point); };
      if (workpackage.state == State::ready && workpackage.progress == workspace::Progress{} &&
          std::ranges::none_of(points, is_there))
        store.apply(workspace::Skipped{.workpackage = id, .reason = "not selected to be repeated"});
    }
}

class Loop {
 public:
  Loop(space::Run& run, workspace::Workspace& workspace, const LoopOptions& options,
       Observer& observer)
      : run_(run),
        workspace_(workspace),
        options_(options),
        observer_(observer),
        evaluator_(space::evaluator_of(run)),
        store_(run, workspace, evaluator_),
        outages_(observer),
        journal_(store_, workspace, outages_, options.interrupted),
        sequencer_(run, store_, evaluator_),
        local_(evaluator_),
        allocation_(run),
        admission_(run, store_, local_, allocation_, evaluator_),
        batch_(machine::batch_system_of(run.platform), run.platform.polling),
        lost_(run, workspace, observer),
        chain_(store_, batch_, observer),
        same_nodes_(run, store_, evaluator_),
        submitter_(run, workspace, store_, journal_, evaluator_, lost_, same_nodes_, batch_),
        step_jobs_(run, evaluator_, machine::batch_system_of_commands(run.platform)),
        repeater_(run, workspace, store_, evaluator_),
        searcher_(run, workspace, store_, evaluator_),
        pruner_(run, workspace, store_) {
    store_.listen(
        [this](const workspace::Event& event) { announce(event, run_, store_, observer_); });
  }

  RunStatus work() {
    try {
      return run();
    } catch (const std::exception&) {
      detach();
      throw;
    }
  }

 private:
  RunStatus run() {
    recover();
    for (;;) {
      retry_postponed();
      for (const Completion& completion : chain_.settle())
        conclude(completion);
      expand_released();
      sequencer_.pass_barriers();
      if (!stopping())
        decide();
      const auto claimed = may_start() ? admission_.claim() : std::vector<long long>{};
      journal_.write();
      for (const long long id : claimed)
        start(id);
      submit_batch_ready();
      show_progress();
      if (stopping() && local_.active() > 0) {
        for (const long long id : local_.terminate_all())
          sequencer_.interrupt(id);
        break;
      }
      if (!is_at_rest())
        wait_for_news();
      else if (stopping() || !same_nodes_.decide())
        break;
    }
    return finish();
  }

  /// Adds, skips and holds back workpackages, as results so far say.
  void decide() {
    skip_unselected(options_.only, run_, store_);
    do {
      repeater_.decide();
      searcher_.decide();
    } while (pruner_.decide());
    same_nodes_.decide();
  }

  /// Writes and reports what the last cycle of the loop left.
  RunStatus finish() {
    journal_.write();
    show_progress();
    for (const auto& notices :
         {store_.take_notices(), repeater_.notices(), searcher_.notices(), same_nodes_.notices()})
      for (const std::string& notice : notices)
        observer_.notice(notice);
    for (const Warning& warning : store_.take_warnings())
      observer_.warn(warning);
    RunStatus status{store_.counts(), interrupted(), "", submitter_.refusals()};
    if (status.open() > 0)
      status.blocked_reason = blocked_reason();
    return status;
  }

  /// An error that ends this loop, such as a full disk, must not stop the running commands.
  void detach() {
    if (local_.active() == 0)
      return;
    local_.detach();
    observer_.notice("commands on this machine keep running; collect them with `bench continue`");
  }

  bool interrupted() const { return options_.interrupted && *options_.interrupted; }
  bool stopping() const {
    return interrupted() || allocation_.is_over() ||
           (options_.stop_at_error && store_.any_failed());
  }
  bool may_start() const { return !stopping() && outages_.lets_start(); }
  std::string blocked_reason() const {
    if (unresolved_ > 0)
      return fmt::format("{} workpackage{} could not be started or continued: {}", unresolved_,
                         unresolved_ == 1 ? "" : "s", first_unresolved_reason_);
    if (std::string reason = allocation_.blocked_reason(); !reason.empty())
      return reason;
    return submitter_.blocked_reason().empty() ? batch_.blocked_reason()
                                               : submitter_.blocked_reason();
  }

  /// Jobs that the batch system runs count as running here.
  void show_progress() { observer_.progress(with_running_jobs(store_.counts(), running_jobs_)); }

  /// Everything that has happened since an earlier bench worked on this run.
  void recover() {
    if (store_.all().empty())
      store_.expand_first();
    Recovery recovery(run_, workspace_, store_, lost_, observer_);
    for (const Completion& completion : recovery.recover_processes(local_, evaluator_))
      conclude(allocation_.judged(completion, allocation_of(run_)));
    for (const std::string& reason : recovery.left_elsewhere())
      leave_unresolved(reason);
    recovery.recover_jobs(batch_);
    if (!allocation_.id().empty())
      workspace_.set_fact("allocation", allocation_.id());
    admission_.count_running();
    ask_batch_system();
    check_waiting();
  }

  void check_waiting() {
    for (const long long id : std::set<long long>(store_.queues().waiting()))
      check_watch_files(id);
    for (const auto& [id, why] : step_jobs_.ended(store_.graph(), store_.queues().waiting()))
      sequencer_.fail(id, why + ", without the file that is waited for");
  }

  void check_watch_files(long long id) {
    if (isolate_errors(id, [&] { sequencer_.check_watch_files(id); }))
      postponed_.emplace_back([this, id] { check_watch_files(id); });
  }

  void ask_batch_system() {
    machine::JobMonitor::News news;
    try {
      news = batch_.update();
    } catch (const Error& error) {
      if (!is_fault_of_machine(error, run_.directory.path))
        throw;
      batch_.put_off(error.message());
    }
    for (const auto& [id, job_id] : news.found)
      if (store_.at(id).state == State::running)
        store_.apply(workspace::Submitted{.workpackage = id, .job_id = job_id});
    for (const Completion& completion : news.completions)
      if (!chain_.decides_later(completion))
        conclude(completion);
    if (!news.completions.empty())
      submitter_.job_has_ended();
    for (const std::string& notice : news.notices)
      observer_.notice(notice);
    if (batch_.blocked_reason() != told_trouble_ && options_.wait &&
        !batch_.blocked_reason().empty())
      observer_.notice(fmt::format("{}; bench asks again", batch_.blocked_reason()));
    told_trouble_ = batch_.blocked_reason();
    if (!news.asked)
      return;
    running_jobs_.clear();
    for (const long long id : batch_.running())
      ++running_jobs_[store_.at(id).step];
    if (told_trouble_.empty() && store_.queues().batch_ready_count() == 0)
      submitter_.clear_blocked_reason();  // what came of it is known now
  }

  void submit_batch_ready() {
    const std::size_t ready = store_.queues().batch_ready_count();
    if (ready == 0 || !may_start() || submitter_.is_spent() ||
        !submission_timing_.is_due(ready, local_.active() > 0))
      return;
    const std::vector<Completion> ended = submitter_.submit(store_.queues().batch_ready());
    if (std::ranges::none_of(ended, &Completion::held_up))
      outages_.end();
    for (const Completion& completion : ended)
      if (completion.held_up)
        refuse_start(completion.workpackage, completion.reason);
      else
        conclude(completion);
    if (submitter_.take_refused() && batch_.active() > 0)
      observer_.notice(submitter_.refusals());
    if (submitter_.blocked_reason().empty()) {
      submission_timing_.succeeded();
    } else {
      observer_.notice(submitter_.blocked_reason());
      submission_timing_.failed();
    }
  }

  /// Nothing is left to do, or to wait for.
  bool is_at_rest() const {
    if (local_.active() > 0 || store_.has_events())
      return false;
    if (stopping())
      return true;
    if (batch_.unsettled() || step_jobs_.unsettled() || store_.can_expand_ahead() ||
        (outages_.lasts() && !submitter_.is_spent()))
      return false;
    if (!options_.wait)
      return store_.queues().batch_ready_count() == 0 || !submitter_.blocked_reason().empty();
    const bool submits = store_.queues().batch_ready_count() > 0 && !submitter_.is_spent() &&
                         !outages_.is_given_up();
    return batch_.active() == 0 && !submits && !any_waits_for_file();
  }

  /// Only an end of others here lets a workpackage pass a barrier, so none is waited for there.
  bool any_waits_for_file() const {
    return std::ranges::any_of(store_.queues().waiting(), [&](long long id) {
      return !space::waits_at_barrier(store_.step_of(store_.at(id)), store_.at(id));
    });
  }

  void wait_for_news() {
    double patience_s = store_.has_events() || store_.can_expand_ahead() ? 0 : 1;
    if (batch_.active() > 0)
      patience_s = std::min(patience_s, batch_.seconds_to_update());
    if (outages_.lasts())
      patience_s = std::min(patience_s, outages_.seconds_to_retry());
    for (const Completion& completion : local_.wait(patience_s))
      conclude(allocation_.judged(completion, allocation_.id()));
    if (const std::string failure = local_.take_failure(); !failure.empty())
      outages_.tell(failure);
    if (batch_.active() > 0 && batch_.seconds_to_update() <= 0)
      ask_batch_system();
    if ((options_.wait || step_jobs_.unsettled()) && !store_.queues().waiting().empty())
      check_waiting();
  }

  void expand_released() {
    if (outages_.seconds_to_retry() > 0)
      return;
    const bool was_refused = store_.is_expansion_refused();
    try {
      store_.expand_released();
      if (was_refused)
        outages_.end();
    } catch (const Error& error) {
      if (!is_fault_of_machine(error, run_.directory.path) || !outages_.try_again(error.message()))
        throw;
    }
  }

  void start(long long id) {
    const auto prepare_and_start = [&] {
      const Workpackage& workpackage = store_.at(id);
      if (const auto told = lost_.find(workpackage, store_.uuid(id)))
        return conclude(*told);
      auto [job, request] =
          space::prepare(*space::context_of(run_, store_.graph(), workpackage, evaluator_),
                         store_.graph(), store_.uuid(id), store_.inherited_environment(id));
      if (allocation_.runs(workpackage))
        allocation_.check(request, store_.step_of(workpackage).batch->place);
      job.at_once = store_.concurrent_beside(workpackage);
      observer_.started(job);
      local_.start(std::move(job));
      outages_.end();
    };
    isolate_errors(id, prepare_and_start, Executed::nothing);
  }

  void conclude(const Completion& completion) {
    const long long id = completion.workpackage;
    observer_.stopped(id);
    allocation_.release(id);
    if (completion.held_up) {
      sequencer_.forget_environment(id);
      leave_unresolved(completion.reason);
    } else if (isolate_errors(id, [&] { sequencer_.conclude(completion); })) {
      postponed_.emplace_back([this, completion] { conclude(completion); });
    }
  }

  /// What the machine did not let be taken further.
  void retry_postponed() {
    if (postponed_.empty() || outages_.seconds_to_retry() > 0)
      return;
    for (const auto& action : std::exchange(postponed_, {}))
      action();
    if (postponed_.empty())
      outages_.end();
  }

  /// It is ready again: at once, while the outage may be a short one, or for the bench that
  /// continues.
  void refuse_start(long long id, const std::string& reason) {
    store_.apply(workspace::Interrupted{.workpackage = id, .reason = reason});
    if (outages_.try_again(reason))
      return;
    store_.defer(id);
    leave_unresolved(reason);
    outages_.give_up_start();
  }

  /// The machine keeps a workpackage from being started or taken further. It stays as it is, so
  /// that the bench that continues finds out from what lies on disk how it has ended, if it has.
  void leave_unresolved(const std::string& reason) {
    if (unresolved_++ == 0)
      first_unresolved_reason_ = reason;
  }

  /// How far the commands of a workpackage are where an error comes.
  enum class Executed { nothing, something };

  /// A workpackage's error does not end the run; and one that lies with the machine is not a
  /// failure.
  /// @returns whether the machine is at fault and the same is to be tried again later
  template <class Action>
  bool isolate_errors(long long id, Action action, Executed executed = Executed::something) {
    try {
      action();
    } catch (const Error& error) {
      observer_.stopped(id);
      allocation_.release(id);
      if (!is_fault_of_machine(error, run_.directory.path))
        sequencer_.fail(id, render(error));
      else if (executed == Executed::nothing)
        refuse_start(id, error.message());
      else if (outages_.try_again(error.message()))
        return true;
      else
        leave_unresolved(error.message());
    }
    return false;
  }

  const space::Run& run_;
  workspace::Workspace& workspace_;
  const LoopOptions& options_;
  Observer& observer_;
  evaluate::Evaluator evaluator_;
  StateStore store_;
  OutageWatch outages_;
  Journal journal_;
  Sequencer sequencer_;
  machine::LocalBackend local_;
  AllocationSlots allocation_;
  Admission admission_;
  machine::JobMonitor batch_;
  LostAttempts lost_;
  Chain chain_;
  SameNodes same_nodes_;
  Submitter submitter_;
  StepJobs step_jobs_;
  Repeater repeater_;
  Searcher searcher_;
  Pruner pruner_;
  std::vector<std::function<void()>> postponed_;   ///< What the machine did not let be concluded.
  std::map<std::string, long long> running_jobs_;  ///< Of each step, when last asked.
  std::size_t unresolved_ = 0;  ///< Workpackages that the machine could not continue.
  std::string first_unresolved_reason_;
  std::string told_trouble_;
  SubmissionTiming submission_timing_;
};

}  // namespace

RunStatus work(space::Run& run, workspace::Workspace& workspace, const LoopOptions& options,
               Observer& observer) {
  if (auto status = status_if_finished(run, workspace)) {
    observer.progress(status->counts);
    return *status;
  }
  return Loop(run, workspace, options, observer).work();
}

}  // namespace bench::run
