#include "batch_system.hpp"
#include "course.hpp"
#include "graph.hpp"
#include "ledger.hpp"
#include "part.hpp"
#include "prepare.hpp"
#include "queue.hpp"
#include "recovery.hpp"
#include "submitter.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <fmt/core.h>

#include <bench/base/host.hpp>
#include <bench/engine/loop.hpp>
#include <bench/schedule/batch.hpp>
#include <bench/schedule/local.hpp>

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
        local_(usable_cpus()),
        batch_(batch_system_of(run.platform), batch_settings_of(run.platform)),
        submitter_(run, workspace, graph_, queue_, ledger_, course_, evaluator_, batch_) {}

  Standing work() {
    try {
      return go_on();
    } catch (const std::exception&) {
      leave();
      throw;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  Standing go_on() {
    take_up();
    for (;;) {
      release_children();
      course_.pass_barriers();
      const auto claimed = stopping() ? std::vector<long long>{} : claim();
      workspace_.apply(ledger_.take_changes());
      for (const long long id : claimed)
        start(id);
      submit_gathered();
      show_progress();
      if (stopping() && local_.active() > 0) {
        for (const long long id : local_.abandon())
          ledger_.come_back(graph_.at(id), "bench was interrupted");
        break;
      }
      if (is_at_rest())
        break;
      wait_for_news();
    }
    if (interrupted() && options_.cancel_on_interrupt)
      cancel_jobs();
    workspace_.apply(ledger_.take_changes());
    show_progress();
    for (const std::string& notice : graph_.take_notices())
      observer_.notice(notice);
    Standing standing{.counts = ledger_.counts(), .interrupted = interrupted(), .trouble = ""};
    if (standing.open() > 0)
      standing.trouble = trouble();
    return standing;
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
  std::string trouble() const {
    if (std::string held = ledger_.held_back(); !held.empty())
      return held;
    return submitter_.trouble().empty() ? batch_.trouble() : submitter_.trouble();
  }

  /// Jobs that the batch system runs count as running here.
  void show_progress() {
    if (running_jobs_.empty())
      return observer_.progress(ledger_.counts());
    std::vector<workspace::StepCounts> counts = ledger_.counts();
    for (workspace::StepCounts& step : counts) {
      const auto found = running_jobs_.find(step.step);
      const long long running =
          found == running_jobs_.end() ? 0 : std::min(step.submitted, found->second);
      step.submitted -= running;
      step.running += running;
    }
    observer_.progress(counts);
  }

  /// Everything that has happened since an earlier bench worked on this run.
  void take_up() {
    if (graph_.all().empty())
      ledger_.take_in(graph_.make_first());
    Recovery recovery(run_, workspace_, graph_, ledger_, observer_);
    for (const Completion& completion : recovery.take_up_processes(local_, evaluator_))
      conclude(completion);
    recovery.take_up_jobs(batch_);
    ask_batch_system();
    look_at_pending();
  }

  void look_at_pending() {
    for (const Workpackage& workpackage : graph_.all())
      if (workpackage.state == State::pending)
        in_its_own_name(workpackage.id, [&](Workpackage& one) { course_.look_again(one); });
  }

  void ask_batch_system() {
    schedule::BatchQueue::News news = batch_.ask();
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
    running_jobs_.clear();
    for (const long long id : batch_.running())
      ++running_jobs_[graph_.at(id).step];
    if (told_trouble_.empty() && queue_.gathered() == 0)
      submitter_.forget_trouble();  // what came of it is known now
  }

  /// Workpackages for the batch system gather while others are still being prepared here, so that
  /// they go out as few submissions; but they do not wait for long.
  void submit_gathered() {
    if (queue_.gathered() == 0 || stopping() || submitter_.is_spent() ||
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
    for (const Completion& completion : submitter_.submit(queue_.take_gathered()))
      conclude(completion);
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
    if (batch_.unsettled())
      return false;
    if (!options_.wait)
      return queue_.gathered() == 0 || !submitter_.trouble().empty();
    return batch_.active() == 0 && (queue_.gathered() == 0 || submitter_.is_spent()) &&
           !waits_for_files();
  }

  bool waits_for_files() const {
    return std::ranges::any_of(ledger_.counts(), [](const auto& step) { return step.pending > 0; });
  }

  void wait_for_news() {
    const double patience_s =
        ledger_.has_changes()
            ? 0.0
            : std::min(1.0, batch_.active() > 0 ? batch_.seconds_to_question() : 1.0);
    for (const Completion& completion : local_.wait(patience_s))
      conclude(completion);
    if (batch_.active() > 0 && batch_.seconds_to_question() <= 0)
      ask_batch_system();
    if (options_.wait && waits_for_files())
      look_at_pending();
  }

  /// The user does not want them any more.
  void cancel_jobs() {
    const auto ids = batch_.ids();
    std::vector<std::string> jobs;
    for (const auto& [workpackage, id] : ids)
      jobs.push_back(id);
    if (const std::string said = batch_.system().cancel(jobs); !said.empty()) {
      observer_.notice(said);
      return;
    }
    for (const auto& [workpackage, id] : ids) {
      Completion completion;
      completion.workpackage = workpackage;
      completion.outcome = Outcome::cancelled;
      completion.reason = fmt::format("job {} was cancelled with bench", id);
      ledger_.end(graph_.at(workpackage), completion);
    }
    batch_.forget_all();
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
      if (local_.room(script) <= claimed.size())
        break;
      ledger_.claim(workpackage);
      claimed.push_back(id);
      if (script)
        break;
    }
    return claimed;
  }

  void start(long long id) {
    const auto prepare_and_start = [&](Workpackage& workpackage) {
      schedule::Job job = prepare(scope_of(run_, graph_, workpackage, evaluator_), graph_,
                                  ledger_.uuid(id), course_.inherited_by(workpackage))
                              .job;
      observer_.started(job);
      local_.start(std::move(job));
    };
    in_its_own_name(id, prepare_and_start, Executed::nothing);
  }

  void conclude(const Completion& completion) {
    observer_.stopped(completion.workpackage);
    in_its_own_name(completion.workpackage,
                    [&](Workpackage& workpackage) { course_.conclude(workpackage, completion); });
  }

  /// How far the commands of a workpackage are where an error comes.
  enum class Executed { nothing, something };

  /// A workpackage's error does not end the run; and one that lies with the machine is no failure.
  template <class Action>
  void in_its_own_name(long long id, Action action, Executed executed = Executed::something) {
    Workpackage& workpackage = graph_.at(id);
    try {
      action(workpackage);
    } catch (const Error& error) {
      observer_.stopped(id);
      if (error.may_pass() && executed == Executed::nothing)
        ledger_.hold_back(workpackage, error.message());
      else if (error.may_pass())
        ledger_.leave(error.message());
      else
        fail(workpackage, error);
    }
  }

  void fail(Workpackage& workpackage, const Error& error) {
    Completion failure;
    failure.workpackage = workpackage.id;
    failure.reason = render(error);
    failure.host = host_name();
    ledger_.end(workpackage, failure);
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
  schedule::BatchQueue batch_;
  Submitter submitter_;
  std::map<std::string, long long> running_jobs_;  ///< Of each step, when last asked.
  std::string told_trouble_;
  bool gathering_ = false;
  Clock::time_point gathering_since_{};
  Clock::time_point submit_not_before_{};
  static constexpr std::chrono::seconds first_submit_pause{2};
  static constexpr std::chrono::seconds longest_submit_pause{300};
  std::chrono::seconds submit_pause_ = first_submit_pause;
};

/// A finished run of many workpackages is known for one without reading them all.
std::optional<Standing> standing_if_finished(const Run& run,
                                             const workspace::Workspace& workspace) {
  std::set<std::string> with_children;
  for (const model::Step& step : run.benchmark.steps)
    with_children.insert(step.depend.begin(), step.depend.end());
  if (!workspace.is_finished(with_children))
    return std::nullopt;
  const auto counted = workspace.counts();
  Standing standing;
  for (const model::Step& step : run.benchmark.steps) {
    const auto found = std::ranges::find(counted, step.name, &workspace::StepCounts::step);
    standing.counts.push_back(found != counted.end() ? *found
                                                     : workspace::StepCounts{.step = step.name});
  }
  return standing;
}

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
  if (auto standing = standing_if_finished(run, workspace)) {
    observer.progress(standing->counts);
    return *standing;
  }
  return Loop(run, workspace, options, observer).work();
}

}  // namespace bench::engine
