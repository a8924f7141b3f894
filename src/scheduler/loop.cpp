#include "child_expansion.hpp"
#include "course.hpp"
#include "ledger.hpp"
#include "lost_attempts.hpp"
#include "outage_watch.hpp"
#include "recovery.hpp"
#include "submitter.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include <bench/base/host.hpp>
#include <bench/base/outage.hpp>
#include <bench/execute/batch.hpp>
#include <bench/execute/local.hpp>
#include <bench/job/prepare.hpp>
#include <bench/scheduler/batch_system.hpp>
#include <bench/scheduler/loop.hpp>
#include <bench/scheduler/queue.hpp>
#include <bench/scheduler/step_jobs.hpp>
#include <bench/workflow/graph.hpp>

namespace bench::scheduler {
namespace {

using execute::Completion;
using workspace::State;
using workspace::Workpackage;

class Loop {
 public:
  Loop(const setup::Run& run, workspace::Workspace& workspace, const LoopOptions& options,
       Observer& observer)
      : run_(run),
        workspace_(workspace),
        options_(options),
        observer_(observer),
        evaluator_(workflow::evaluator_of(run)),
        graph_(run, workspace.workpackages(), evaluator_),
        queue_(run, graph_),
        ledger_(run, graph_, queue_, observer),
        course_(run, workspace, graph_, queue_, ledger_, evaluator_),
        batch_(batch_system_of(run.platform), batch_settings_of(run.platform)),
        lost_(run, workspace, observer),
        submitter_(run, workspace, graph_, queue_, ledger_, course_, evaluator_, lost_, batch_),
        step_jobs_(run, evaluator_),
        outages_(observer),
        children_(run, graph_, queue_, ledger_) {}

  RunStatus work() {
    try {
      return go_on();
    } catch (const std::exception&) {
      leave();
      throw;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  RunStatus go_on() {
    take_up();
    for (;;) {
      retry_postponed();
      release_children();
      course_.pass_barriers();
      const auto claimed = may_start() ? claim() : std::vector<long long>{};
      write();
      for (const long long id : claimed)
        start(id);
      submit_gathered();
      show_progress();
      if (stopping() && local_.active() > 0) {
        for (const long long id : local_.abandon())
          course_.interrupt(graph_.at(id));
        break;
      }
      if (is_at_rest())
        break;
      wait_for_news();
    }
    if (interrupted() && options_.cancel_on_interrupt)
      if (const std::string said = submitter_.cancel_all(); !said.empty())
        observer_.notice(said);
    write();
    show_progress();
    for (const std::string& notice : graph_.take_notices())
      observer_.notice(notice);
    for (const Warning& warning : graph_.take_warnings())
      observer_.warn(warning);
    RunStatus status{ledger_.counts(), interrupted(), "", submitter_.refusals()};
    if (status.open() > 0)
      status.trouble = trouble();
    return status;
  }

  /// What ends this loop, a full disk under the database, say, is no fault of what runs.
  void leave() {
    if (local_.active() == 0)
      return;
    local_.leave();
    observer_.notice("the commands that run here go on; `bench continue` takes them up");
  }

  bool interrupted() const { return options_.interrupted && *options_.interrupted; }
  bool stopping() const {
    return interrupted() || (options_.stop_at_error && ledger_.any_failed());
  }
  bool may_start() const { return !stopping() && outages_.lets_start(); }
  std::string trouble() const {
    if (std::string held = ledger_.held_back(); !held.empty())
      return held;
    return submitter_.trouble().empty() ? batch_.trouble() : submitter_.trouble();
  }

  /// Jobs that the batch system runs count as running here.
  void show_progress() { observer_.progress(with_running_jobs(ledger_.counts(), running_jobs_)); }

  /// Everything that has happened since an earlier bench worked on this run.
  void take_up() {
    if (graph_.all().empty())
      ledger_.take_in(graph_.make_first());
    Recovery recovery(run_, workspace_, graph_, queue_, ledger_, observer_);
    for (const Completion& completion : recovery.take_up_processes(local_, evaluator_))
      conclude(completion);
    recovery.take_up_jobs(batch_);
    ask_batch_system();
    look_at_pending();
  }

  void look_at_pending() {
    for (const Workpackage& workpackage : graph_.all())
      if (workpackage.state == State::pending)
        look_again(workpackage.id);
    for (const auto& [id, why] : step_jobs_.ended(graph_))
      course_.give_up(graph_.at(id), why + ", without the file that is waited for");
  }

  void look_again(long long id) {
    if (in_its_own_name(id, [&](Workpackage& workpackage) { course_.look_again(workpackage); }))
      postponed_.emplace_back([this, id] { look_again(id); });
  }

  /// The database is written before anything starts that it has to know of. What it refuses is
  /// tried again for a while; readers and commands go on.
  void write() {
    const workspace::Changes changes = ledger_.take_changes();
    for (Outage outage;;)
      try {
        return workspace_.apply(changes);
      } catch (const Error& error) {
        if (!is_fault_of_machine(error) || interrupted() || !outage.try_again())
          throw;
        outages_.tell(error.message());
        std::this_thread::sleep_for(std::chrono::duration<double>(outage.seconds_to_retry()));
      }
  }

  void ask_batch_system() {
    execute::BatchQueue::News news;
    try {
      news = batch_.update();
    } catch (const Error& error) {
      if (!is_fault_of_machine(error, run_.directory.path))
        throw;
      batch_.put_off(error.message());
    }
    for (const auto& [id, job_id] : news.found)
      if (graph_.at(id).state == State::running)
        ledger_.submit(graph_.at(id), job_id);
    for (const Completion& completion : news.completions)
      conclude(completion);
    if (!news.completions.empty())
      submitter_.job_has_ended();
    for (const std::string& notice : news.notices)
      observer_.notice(notice);
    if (batch_.trouble() != told_trouble_ && options_.wait && !batch_.trouble().empty())
      observer_.notice(fmt::format("{}; bench asks again", batch_.trouble()));
    told_trouble_ = batch_.trouble();
    if (!news.asked)
      return;
    running_jobs_.clear();
    for (const long long id : batch_.running())
      ++running_jobs_[graph_.at(id).step];
    if (told_trouble_.empty() && queue_.gathered() == 0)
      submitter_.forget_trouble();  // what came of it is known now
  }

  /// Workpackages for the batch system gather while others are still being prepared here, so that
  /// they go out as few submissions; but they do not wait for long.
  void submit_gathered() {
    if (queue_.gathered() == 0 || !may_start() || submitter_.is_spent() ||
        Clock::now() < submit_not_before_)
      return;
    constexpr auto longest = std::chrono::seconds(10);
    constexpr std::size_t many = 1000;
    if (!std::exchange(gathering_, true))
      gathering_since_ = Clock::now();
    if (local_.active() > 0 && queue_.gathered() < many &&
        Clock::now() - gathering_since_ < longest)
      return;
    gathering_ = false;
    const std::vector<Completion> ended = submitter_.submit(queue_.take_gathered());
    if (std::ranges::none_of(ended, &Completion::held_up))
      outages_.end();
    for (const Completion& completion : ended)
      if (completion.held_up)
        refuse_start(graph_.at(completion.workpackage), completion.reason);
      else
        conclude(completion);
    if (submitter_.take_refused() && batch_.active() > 0)
      observer_.notice(submitter_.refusals());
    if (submitter_.trouble().empty()) {
      submit_pause_ = first_submit_pause;
      return;
    }
    observer_.notice(submitter_.trouble());
    submit_not_before_ = Clock::now() + submit_pause_;
    submit_pause_ = std::min(submit_pause_ * 2, longest_submit_pause);
  }

  /// Nothing is left to do, or to wait for.
  bool is_at_rest() const {
    if (local_.active() > 0 || ledger_.has_changes())
      return false;
    if (stopping())
      return true;
    if (batch_.unsettled() || step_jobs_.unsettled() ||
        (outages_.lasts() && !submitter_.is_spent()))
      return false;
    if (!options_.wait)
      return queue_.gathered() == 0 || !submitter_.trouble().empty();
    const bool submits = queue_.gathered() > 0 && !submitter_.is_spent() && !outages_.is_given_up();
    return batch_.active() == 0 && !submits && !ledger_.any_pending();
  }

  void wait_for_news() {
    double patience_s = 1;
    if (batch_.active() > 0)
      patience_s = std::min(patience_s, batch_.seconds_to_update());
    if (outages_.lasts())
      patience_s = std::min(patience_s, outages_.seconds_to_retry());
    for (const Completion& completion : local_.wait(ledger_.has_changes() ? 0 : patience_s))
      conclude(completion);
    if (const std::string trouble = local_.take_trouble(); !trouble.empty())
      outages_.tell(trouble);
    if (batch_.active() > 0 && batch_.seconds_to_update() <= 0)
      ask_batch_system();
    if ((options_.wait || step_jobs_.unsettled()) && ledger_.any_pending())
      look_at_pending();
  }

  void release_children() {
    children_.take_released();
    if (outages_.seconds_to_retry() > 0)
      return;
    const bool was_refused = children_.is_refused();
    try {
      children_.make();
      if (was_refused)
        outages_.end();
    } catch (const Error& error) {
      if (!is_fault_of_machine(error, run_.directory.path) || !outages_.try_again(error.message()))
        throw;
    }
  }

  /// Marks as running, in the order of ids, what can start now.
  std::vector<long long> claim() {
    std::vector<long long> claimed;
    int at_once = std::numeric_limits<int>::max();
    for (long long id = queue_.front(); id >= 0; id = queue_.front()) {
      Workpackage& workpackage = graph_.at(id);
      at_once = std::min(at_once, queue_.at_once(workpackage));
      if (local_.room(at_once) <= claimed.size())
        break;
      ledger_.claim(workpackage);
      claimed.push_back(id);
    }
    return claimed;
  }

  void start(long long id) {
    const auto prepare_and_start = [&](Workpackage& workpackage) {
      if (const auto told = lost_.find(workpackage))
        return conclude(*told);
      execute::Job job = job::prepare(job::context_of(run_, graph_, workpackage, evaluator_),
                                      graph_, ledger_.uuid(id), course_.inherited_by(workpackage))
                             .job;
      job.at_once = queue_.at_once(workpackage);
      observer_.started(job);
      local_.start(std::move(job));
      outages_.end();
    };
    in_its_own_name(id, prepare_and_start, Executed::nothing);
  }

  void conclude(const Completion& completion) {
    observer_.stopped(completion.workpackage);
    if (in_its_own_name(completion.workpackage, [&](Workpackage& workpackage) {
          course_.conclude(workpackage, completion);
        }))
      postponed_.emplace_back([this, completion] { conclude(completion); });
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
  void refuse_start(Workpackage& workpackage, const std::string& reason) {
    if (outages_.try_again(reason)) {
      ledger_.come_back(workpackage, reason);
    } else {
      ledger_.hold_back(workpackage, reason);
      outages_.give_up_start();
    }
  }

  /// How far the commands of a workpackage are where an error comes.
  enum class Executed { nothing, something };

  /// A workpackage's error does not end the run; and one that lies with the machine is no failure.
  /// @returns whether the machine is at fault and the same is to be tried again later
  template <class Action>
  bool in_its_own_name(long long id, Action action, Executed executed = Executed::something) {
    Workpackage& workpackage = graph_.at(id);
    try {
      action(workpackage);
    } catch (const Error& error) {
      observer_.stopped(id);
      if (!is_fault_of_machine(error, run_.directory.path))
        course_.give_up(workpackage, render(error));
      else if (executed == Executed::nothing)
        refuse_start(workpackage, error.message());
      else if (outages_.try_again(error.message()))
        return true;
      else
        ledger_.leave(error.message());
    }
    return false;
  }

  const setup::Run& run_;
  workspace::Workspace& workspace_;
  const LoopOptions& options_;
  Observer& observer_;
  evaluate::Evaluator evaluator_;
  workflow::Graph graph_;
  Queue queue_;
  Ledger ledger_;
  Course course_;
  execute::LocalBackend local_;
  execute::BatchQueue batch_;
  LostAttempts lost_;
  Submitter submitter_;
  StepJobs step_jobs_;
  OutageWatch outages_;
  ChildExpansion children_;
  std::vector<std::function<void()>> postponed_;   ///< What the machine did not let be concluded.
  std::map<std::string, long long> running_jobs_;  ///< Of each step, when last asked.
  std::string told_trouble_;
  bool gathering_ = false;
  Clock::time_point gathering_since_{};
  Clock::time_point submit_not_before_{};
  static constexpr std::chrono::seconds first_submit_pause{2};
  static constexpr std::chrono::seconds longest_submit_pause{300};
  std::chrono::seconds submit_pause_ = first_submit_pause;
};

}  // namespace

RunStatus work(const setup::Run& run, workspace::Workspace& workspace, const LoopOptions& options,
               Observer& observer) {
  if (auto status = status_if_finished(run, workspace)) {
    observer.progress(status->counts);
    return *status;
  }
  return Loop(run, workspace, options, observer).work();
}

}  // namespace bench::scheduler
