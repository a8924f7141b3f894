#include "submitter.hpp"

#include "journal.hpp"
#include "recovery.hpp"
#include "state_store.hpp"
#include "submission.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/chunks.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/outage.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/machine/platform.hpp>
#include <bench/machine/systems.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/preflight.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/job_script.hpp>
#include <bench/space/nodes.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {
namespace {

namespace fs = std::filesystem;
using machine::Completion;
using machine::SubmitResult;
using workspace::Workpackage;

constexpr double seconds_per_hour = 3600;

bool never_began(const workspace::Attempt& attempt) {
  return attempt.outcome == name_of(Outcome::interrupted) ||
         attempt.outcome == name_of(Outcome::launch_failure) ||
         attempt.outcome == name_of(Outcome::boot_fail);
}

/// A job, of which several workpackages may be parts.
struct JobSpan {
  int nodes = 1;
  double limit_s = 0;
  bool bounded_only = false;  ///< It has not ended, or nobody knows when it began and ended.
  std::optional<double> started_unix_s;
  std::optional<double> ended_unix_s;

  void add(const workspace::Attempt& attempt) {
    if (attempt.started_unix_s)
      started_unix_s =
          std::min(started_unix_s.value_or(*attempt.started_unix_s), *attempt.started_unix_s);
    if (attempt.ended_unix_s)
      ended_unix_s = std::max(ended_unix_s.value_or(*attempt.ended_unix_s), *attempt.ended_unix_s);
    if (!never_began(attempt))
      bounded_only = bounded_only || attempt.outcome.empty() || !attempt.started_unix_s ||
                     !attempt.ended_unix_s;
  }

  double node_hours() const {
    const double ran_s =
        started_unix_s && ended_unix_s ? std::max(0.0, *ended_unix_s - *started_unix_s) : 0;
    return nodes * (bounded_only ? std::max(limit_s, ran_s) : ran_s) / seconds_per_hour;
  }
};

/// The tasks of an array, as in `0-99%10`; empty for a job.
std::string array_range(const space::Run& run, const Bundle& bundle, int limit) {
  if (bundle.tasks.size() == 1)
    return "";
  const int last = bundle.first_task + static_cast<int>(bundle.tasks.size()) - 1;
  return run.platform.system().arrays.range(bundle.first_task, last, limit);
}

/// Writes what a submission needs: the job script of a single workpackage is there already, several
/// have one that runs theirs.
/// @param limit how many tasks of an array may run at a time; 0: any number
/// @param dependency empty: none
machine::Submission write_submission(const space::Run& run, const Bundle& bundle, int limit,
                                     const std::string& dependency) {
  const Planned& first = bundle.first();
  const JobShape& shape = *first.shape;
  const std::string name = space::job_name(
      run, shape.context->step.name,
      bundle.is_plain() ? std::optional(first.job.workpackage) : std::nullopt, bundle.uuid);
  machine::Submission submission{.uuid = bundle.uuid,
                                 .name = name,
                                 .script = first.job.script,
                                 .directory = first.job.work_directory,
                                 .environment = space::script_environment(),
                                 .is_array = bundle.tasks.size() > 1};
  set_variable(submission.environment, "BENCH_SUBMISSION", bundle.uuid);
  // Some batch systems take the account on their command line only.
  if (const std::string& account = shape.request.settings.at("account"); !account.empty())
    set_variable(submission.environment, "BENCH_ACCOUNT", account);
  if (bundle.is_plain() && (dependency.empty() || shape.is_alone))
    return submission;
  submission.directory = run.directory.path / "submissions" / bundle.uuid;
  submission.script = submission.directory / "job.sh";
  make_directories(submission.directory);
  const fs::path list = submission.directory / "workpackages";
  std::string lines;
  for (const Task& task : bundle.tasks) {
    for (const Planned* one : task)
      lines += fmt::format("{} {} ", shell_quote(one->job.script.string()), one->job.uuid);
    lines.back() = '\n';
  }
  write_file_atomically(list, lines);
  const int pack = static_cast<int>(bundle.tasks.front().size());
  const std::string messages =
      space::directive_file(run.platform, space::messages_of(run, bundle.uuid));
  write_file_atomically(submission.script,
                        space::fill_job_template(*shape.context, shape.request,
                                                 {.uuid = bundle.uuid,
                                                  .job_name = name,
                                                  .array = array_range(run, bundle, limit),
                                                  .dependency = dependency,
                                                  .output = messages,
                                                  .error = messages,
                                                  .pack = pack,
                                                  .parts = space::render_dispatcher(
                                                      *shape.context, shape.request, pack, list)}));
  return submission;
}

Completion failure(long long workpackage, const std::string& reason) {
  Completion completion;
  completion.workpackage = workpackage;
  completion.outcome = Outcome::launch_failure;
  completion.reason = reason;
  return completion;
}

}  // namespace

BudgetTracker::BudgetTracker(const space::Run& run, const workspace::Workspace& workspace,
                             StateStore& store, evaluate::Evaluator& evaluator)
    : run_(run), store_(store), evaluator_(evaluator), budget_h_(run.metadata.budget_node_hours) {
  if (!budget_h_)
    return;
  submitted_ = workspace.submitted_attempts();
  for (std::size_t k = 0; k < submitted_.size(); ++k)
    if (submitted_[k].outcome.empty())
      open_[submitted_[k].workpackage] = k;
  store.listen([this](const workspace::Event& event) { follow(event); });
}

void BudgetTracker::follow(const workspace::Event& event) {
  if (const auto* intended = std::get_if<workspace::SubmissionIntended>(&event)) {
    const auto [known, is_new] = open_.try_emplace(intended->workpackage, submitted_.size());
    if (is_new)
      submitted_.push_back({.workpackage = intended->workpackage});
    submitted_[known->second].submission = intended->submission;
    submitted_[known->second].task = intended->task;
  } else if (const auto* ended = std::get_if<workspace::Ended>(&event)) {
    end_attempt(ended->workpackage, ended->attempt);
  } else if (const auto* retried = std::get_if<workspace::Retried>(&event)) {
    end_attempt(retried->workpackage, retried->attempt);
  } else if (const auto* interrupted = std::get_if<workspace::Interrupted>(&event)) {
    end_attempt(interrupted->workpackage, {.outcome = Outcome::interrupted});
  } else if (const auto* advanced = std::get_if<workspace::Advanced>(&event)) {
    end_attempt(advanced->workpackage, {.outcome = Outcome::done});
  }
}

void BudgetTracker::end_attempt(long long workpackage, const AttemptEnd& end) {
  const auto open = open_.find(workpackage);
  if (open == open_.end())
    return;
  workspace::Attempt& attempt = submitted_[open->second];
  attempt.outcome = name_of(end.outcome);
  attempt.started_unix_s = end.started_unix_s;
  attempt.ended_unix_s = end.ended_unix_s.value_or(unix_time_now());
  open_.erase(open);
}

void BudgetTracker::count() {
  taken_h_ = 0;
  if (!budget_h_)
    return;
  std::map<std::pair<std::string, int>, JobSpan> jobs;  // by submission and task
  for (const workspace::Attempt& attempt : submitted_) {
    const auto context =
        space::context_of(run_, store_.graph(), store_.at(attempt.workpackage), evaluator_);
    const space::JobRequest request = space::job_request_of(*context);
    JobSpan& job = jobs[{attempt.submission, attempt.task.value_or(-1)}];
    job.nodes = request.resources.nodes;
    job.limit_s = request.time_limit_s;
    job.add(attempt);
  }
  for (const auto& [key, job] : jobs)
    taken_h_ += job.node_hours();
}

void BudgetTracker::check(const space::JobRequest& request, const Place& place) const {
  if (budget_h_ && request.time_limit_s == 0)
    throw Error(Id::missing_key, "the run has a budget, and this job has no time limit",
                "give `batch` a `time_limit`", place);
}

bool BudgetTracker::admits(const space::JobRequest& request, std::size_t jobs) {
  if (!budget_h_)
    return true;
  const double wanted_h = node_hours(request, jobs);
  // Sums of the same terms in another order may differ in the last digit.
  constexpr double rounding = 1e-9;
  if (taken_h_ + wanted_h > *budget_h_ * (1 + rounding)) {
    refusal_ = fmt::format(
        "of the budget of {:.2f} node hours {:.2f} are used or promised to jobs, and the next job "
        "may take {:.2f}; `bench continue --budget` gives the run another one",
        *budget_h_, taken_h_, wanted_h);
    return false;
  }
  return true;
}

void BudgetTracker::add(const space::JobRequest& request, std::size_t jobs) {
  taken_h_ += node_hours(request, jobs);
}

double BudgetTracker::node_hours(const space::JobRequest& request, std::size_t jobs) {
  return static_cast<double>(jobs) * request.resources.nodes * request.time_limit_s /
         seconds_per_hour;
}

Submitter::Submitter(space::Run& run, const workspace::Workspace& workspace, StateStore& store,
                     Journal& journal, evaluate::Evaluator& evaluator, LostAttempts& lost,
                     SameNodes& same_nodes, machine::JobMonitor& batch)
    : run_(run),
      workspace_(workspace),
      store_(store),
      journal_(journal),
      evaluator_(evaluator),
      lost_(lost),
      same_nodes_(same_nodes),
      batch_(batch),
      slots_(store, batch),
      budget_(run, workspace, store, evaluator) {
  for (const std::string& name : space::chained_steps(run))
    if (const model::Step* step = run.benchmark.step(name))
      awaited_steps_.insert(step->depend.begin(), step->depend.end());
}

Completion Submitter::failure_by(long long workpackage, const Error& error) const {
  if (!is_fault_of_machine(error, run_.directory.path))
    return failure(workpackage, render(error));
  Completion completion = failure(workpackage, error.message());
  completion.outcome = Outcome::interrupted;
  completion.held_up = true;
  return completion;
}

std::vector<Completion> Submitter::submit(const std::vector<long long>& ids) {
  spent_ = false;
  failed_nodes_.reset();
  space::ask_partitions(batch_.system(), run_);
  budget_.count();
  slots_.drop_ended();
  failure_.clear();
  std::vector<Completion> failed;
  // What is prepared stays in memory until it is handed over. No array is longer.
  constexpr std::size_t at_once = 10'000;
  for (const std::span<const long long> some : chunks_of(ids, at_once)) {
    if (!failure_.empty() || journal_.is_interrupted())
      break;  // the rest stays ready
    submit_some(some, failed);
  }
  return failed;
}

void Submitter::submit_some(std::span<const long long> ids, std::vector<Completion>& failed) {
  for (const long long id : ids)
    store_.apply(claim_of(store_.at(id)));
  journal_.write();
  const std::vector<Planned> planned = prepare_all(ids, failed);
  std::deque<Bundle> bundles = bundles_of(planned, most_of_array());
  for (const Bundle& bundle : bundles)
    record_intent(bundle);
  journal_.write();
  while (!bundles.empty()) {
    const Bundle bundle = std::move(bundles.front());
    bundles.pop_front();
    try {
      if (const std::string* refusal = refusal_of(bundle))
        refuse(bundle, *refusal);
      else if (journal_.is_interrupted())
        take_back(bundle, "bench was interrupted");
      else if (failure_.empty())
        hand_over(bundle, bundles);
      else
        take_back(bundle, spent_ ? failure_ : "the batch system took no more jobs");
    } catch (const Error& error) {
      for_each(bundle, [&](const Planned& one, std::optional<int>) {
        failed.push_back(failure_by(one.job.workpackage, error));
      });
    }
    journal_.write();
  }
}

void Submitter::record_intent(const Bundle& bundle) {
  for_each(bundle, [&](const Planned& one, std::optional<int> task) {
    store_.apply(workspace::SubmissionIntended{.workpackage = one.job.workpackage,
                                               .submission = bundle.uuid,
                                               .task = task,
                                               .waits_for = join(one.shape->waits_for, ",")});
  });
}

void Submitter::take_back(const Bundle& bundle, const std::string& reason) {
  for_each(bundle, [&](const Planned& one, std::optional<int>) {
    store_.apply(workspace::Interrupted{.workpackage = one.job.workpackage, .reason = reason});
  });
}

std::vector<Planned> Submitter::prepare_all(std::span<const long long> ids,
                                            std::vector<Completion>& failed) {
  std::vector<Planned> all;
  all.reserve(ids.size());
  std::unordered_map<std::string_view, std::shared_ptr<const JobShape>> shapes;  // by the head
  for (const long long id : ids) {
    const Workpackage& workpackage = store_.at(id);
    try {
      if (auto told = lost_.find(workpackage, store_.uuid(id))) {
        failed.push_back(std::move(*told));
        continue;
      }
      JobShape shape{.context = context_of(workpackage), .request = {}, .head = {}};
      shape.waits_for = jobs_of_parents(workpackage);
      space::Prepared prepared = space::prepare(*shape.context, store_.graph(), store_.uuid(id),
                                                store_.inherited_environment(id));
      // The script has the environment and the commands.
      Planned planned{.shape = nullptr,
                      .job = space::attempt_on_disk(run_, workpackage, prepared.job.uuid)};
      planned.job.work_directory = std::move(prepared.job.work_directory);
      shape.request = std::move(prepared.request);
      const model::Batch& batch = *shape.context->step.batch;
      check_partition(run_, shape.request, batch.place);
      budget_.check(shape.request, batch.place);
      const auto head = space::render_head(*shape.context, shape.request);
      shape.is_alone = !head;
      shape.is_awaited = awaited_steps_.contains(workpackage.step) &&
                         !run_.platform.system().arrays.tasks_are_awaitable;
      // Some batch systems take the account on their command line only.
      shape.head =
          fmt::format("{}\n{}\n{}\n{}", workpackage.step, join(shape.waits_for, ","),
                      shape.request.settings.at("account"), head.value_or(planned.job.uuid));
      if (const auto known = shapes.find(shape.head);
          known != shapes.end() && known->second->is_equal(shape)) {
        planned.shape = known->second;
      } else {
        planned.shape = std::make_shared<const JobShape>(std::move(shape));
        shapes[planned.shape->head] = planned.shape;
      }
      all.push_back(std::move(planned));
    } catch (const Error& error) {
      failed.push_back(failure_by(id, error));
    }
  }
  return all;
}

std::shared_ptr<const space::RenderContext> Submitter::context_of(const Workpackage& workpackage) {
  auto context = space::context_of(run_, store_.graph(), workpackage, evaluator_);
  std::string nodes = same_nodes_.nodes_for(workpackage);
  if (workpackage.retries == 0 && nodes.empty() && !store_.is_ahead(workpackage))
    return context;
  auto own = std::make_shared<space::RenderContext>(*context);
  own->wanted_nodes = std::move(nodes);
  own->avoided_nodes = avoided_nodes_of(workpackage, *context);
  for (const long long id : workpackage.parents)
    if (const Workpackage& parent = store_.at(id); parent.state != workspace::State::done)
      own->awaited_sentinels.push_back(space::attempt_on_disk(run_, parent, "").sentinel);
  return own;
}

/// Those that its parents have still to run.
std::vector<std::string> Submitter::jobs_of_parents(const Workpackage& workpackage) const {
  std::vector<std::string> jobs;
  for (const long long id : workpackage.parents) {
    if (store_.at(id).state == workspace::State::done)
      continue;
    jobs.push_back(machine::without_cluster(batch_.id_of(id)));
    if (jobs.back().empty())
      throw MachineError(Id::system_error,
                         fmt::format("the end of workpackage {} cannot be recorded yet", id));
  }
  return jobs;
}

std::string Submitter::dependency_of(const Bundle& bundle) {
  machine::Dependency dependency{.ended = slots_.jobs_before(bundle),
                                 .succeeded = bundle.first().shape->waits_for};
  for (std::string& id : dependency.ended)
    id = machine::without_cluster(id);  // a dependency cannot name a cluster
  std::ranges::sort(dependency.ended);
  dependency.ended.erase(std::unique(dependency.ended.begin(), dependency.ended.end()),
                         dependency.ended.end());
  const auto after = run_.platform.system().arrays.after;
  return dependency.empty() || !after ? "" : after(dependency);
}

/// A retry keeps off the nodes that failed.
std::string Submitter::avoided_nodes_of(const Workpackage& workpackage,
                                        const space::RenderContext& context) {
  if (workpackage.retries == 0)
    return "";
  if (!failed_nodes_)
    failed_nodes_ = space::failed_nodes(workspace_.submitted_attempts());
  const auto failed = failed_nodes_->find(workpackage.id);
  if (failed == failed_nodes_->end())
    return "";
  const space::JobRequest request = space::job_request_of(context);
  const machine::Partition* partition = space::partition_of(run_, request.settings.at("partition"));
  return join(space::avoidable_nodes(failed->second, request.resources.nodes,
                                     partition ? partition->nodes : 0),
              ",");
}

std::size_t Submitter::most_of_array() {
  // A batch system that did not answer about its partitions is not asked again here. An array that
  // it refuses is halved.
  constexpr int usual = 1000;
  const bool is_silent = !run_.partitions->failure.empty();
  const int of_platform = run_.platform.polling.max_array_size;
  const int most = is_silent ? (of_platform > 0 ? of_platform : usual) : batch_.max_array_size();
  return static_cast<std::size_t>(most);
}

/// A smaller array may be accepted.
void Submitter::halve(const Bundle& bundle, std::deque<Bundle>& next) {
  auto [first, second] = halves_of(bundle);
  record_intent(first);
  record_intent(second);
  next.push_front(std::move(second));
  next.push_front(std::move(first));
}

/// A refusal holds for all jobs with the same head. If it comes twice before any job was accepted,
/// it holds for all jobs: the cause may be the account, not the size of the jobs. Not so where the
/// step names an account of its own, say.
void Submitter::refuse(const Bundle& bundle, const std::string& reason) {
  const std::string& head = bundle.first().shape->head;
  const bool is_new = refused_heads_.emplace(head, reason).second;
  newly_refused_ = true;
  const bool is_general = bundle.first().shape->context->step.batch->settings.empty();
  if (is_new && is_general && !accepted_ && refused_.contains(reason))
    refusal_ = reason;
  for_each(bundle, [&](const Planned& one, std::optional<int>) {
    store_.apply(workspace::Interrupted{.workpackage = one.job.workpackage, .reason = reason});
    store_.defer(one.job.workpackage);
    ++refused_[reason];
  });
}

const std::string* Submitter::refusal_of(const Bundle& bundle) const {
  const auto known = refused_heads_.find(bundle.first().shape->head);
  if (known != refused_heads_.end())
    return &known->second;
  return refusal_ ? &*refusal_ : nullptr;
}

std::string Submitter::refusals() const {
  std::vector<std::string> texts;
  for (const auto& [reason, count] : refused_)
    texts.push_back(fmt::format("{} refused the job{} of {} workpackage{}: {}",
                                batch_.system().name(), count == 1 ? "" : "s", count,
                                count == 1 ? "" : "s", reason));
  return join(texts, "\n");
}

/// @param next receives the halves of an array that is too large
void Submitter::hand_over(const Bundle& bundle, std::deque<Bundle>& next) {
  if (!budget_.admits(bundle.first().shape->request, bundle.tasks.size())) {
    if (bundle.tasks.size() > 1) {
      halve(bundle, next);
      return;
    }
    spent_ = true;
    failure_ = budget_.refusal();
    take_back(bundle, failure_);
    return;
  }
  const machine::Submission submission = write_submission(
      run_, bundle, slots_.limit_of(bundle.first().shape->context->step), dependency_of(bundle));
  const SubmitResult result = batch_.system().submit(submission);
  if (result.kind == SubmitResult::Kind::refused) {
    refuse(bundle, result.reason);
    return;
  }
  if (result.kind == SubmitResult::Kind::full) {
    if (bundle.tasks.size() == 1) {
      failure_ = result.reason;
      take_back(bundle, result.reason);
      return;
    }
    halve(bundle, next);
    return;
  }
  accepted_ = accepted_ || result.kind == SubmitResult::Kind::accepted;
  budget_.add(bundle.first().shape->request, bundle.tasks.size());
  if (result.kind == SubmitResult::Kind::unavailable)
    failure_ = result.reason;
  else
    slots_.take(bundle, result.id);
  for_each(bundle, [&](const Planned& one, std::optional<int> task) {
    const std::string id =
        task && !result.id.empty() ? machine::task_of(result.id, *task) : result.id;
    if (!id.empty())
      store_.apply(workspace::Submitted{.workpackage = one.job.workpackage, .job_id = id});
    batch_.add({.job = one.job,
                .submission = bundle.uuid,
                .name = submission.name,
                .id = id,
                .task = task,
                .messages = space::messages_of(run_, bundle.uuid)});
  });
}

}  // namespace bench::run
