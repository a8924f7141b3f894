#include "submitter.hpp"

#include <algorithm>

#include <fmt/core.h>

#include <bench/base/chunks.hpp>
#include <bench/base/files.hpp>
#include <bench/base/outage.hpp>
#include <bench/base/text.hpp>
#include <bench/base/uuid.hpp>
#include <bench/batch/job_id.hpp>
#include <bench/job/prepare.hpp>
#include <bench/job/script_environment.hpp>

namespace bench::scheduler {

namespace fs = std::filesystem;
using batch::SubmitResult;
using execute::Completion;
using workspace::Workpackage;

namespace {

Completion failure(long long workpackage, const std::string& reason) {
  Completion completion;
  completion.workpackage = workpackage;
  completion.outcome = Outcome::launch_failure;
  completion.reason = reason;
  return completion;
}

}  // namespace

Submitter::Bundle::Bundle(std::vector<Task> tasks_of_it) : tasks(std::move(tasks_of_it)) {
  uuid = is_plain() ? first().job.uuid : make_uuid();
}

Submitter::Submitter(const setup::Run& run, const workspace::Workspace& workspace,
                     StateStore& store, Journal& journal, evaluate::Evaluator& evaluator,
                     LostAttempts& lost, batch::BatchQueue& batch)
    : run_(run),
      store_(store),
      journal_(journal),
      evaluator_(evaluator),
      lost_(lost),
      batch_(batch),
      limits_(run),
      budget_(run, workspace, store, evaluator) {}

Completion Submitter::failure_by(long long workpackage, const Error& error) const {
  if (!is_fault_of_machine(error, run_.directory.path))
    return failure(workpackage, render(error));
  Completion completion = failure(workpackage, error.message());
  completion.outcome = Outcome::interrupted;
  completion.held_up = true;
  return completion;
}

template <class Action>
void Submitter::for_each(const Bundle& bundle, Action action) {
  for (std::size_t task = 0; task < bundle.tasks.size(); ++task)
    for (const Planned* planned : bundle.tasks[task])
      action(*planned,
             bundle.tasks.size() > 1 ? std::optional(static_cast<int>(task)) : std::nullopt);
}

std::vector<Completion> Submitter::submit(const std::vector<long long>& ids) {
  spent_ = false;
  budget_.count();
  for (const long long id : ids)
    store_.apply(claim_of(store_.at(id)));
  journal_.write();
  std::vector<Completion> failed;
  const std::vector<Planned> planned = prepare_all(ids, failed);
  std::deque<Bundle> bundles = bundle(planned);
  for (const Bundle& bundle : bundles)
    record_intent(bundle);
  journal_.write();
  trouble_.clear();
  while (!bundles.empty()) {
    const Bundle bundle = std::move(bundles.front());
    bundles.pop_front();
    try {
      if (const std::string* refusal = refusal_of(bundle))
        refuse(bundle, *refusal);
      else if (trouble_.empty())
        hand_over(bundle, bundles);
      else
        take_back(bundle, spent_ ? trouble_ : "the batch system took no more jobs");
    } catch (const Error& error) {
      for_each(bundle, [&](const Planned& one, std::optional<int>) {
        failed.push_back(failure_by(one.job.workpackage, error));
      });
    }
    journal_.write();
  }
  return failed;
}

std::string Submitter::cancel_all() {
  const auto ids = batch_.ids();
  std::vector<std::string> jobs;
  for (const auto& [workpackage, id] : ids)
    jobs.push_back(id);
  if (std::string said = batch_.system().cancel(jobs); !said.empty())
    return said;
  for (const auto& [workpackage, id] : ids) {
    store_.apply(
        workspace::Ended{.workpackage = workpackage,
                         .attempt = {.outcome = Outcome::cancelled,
                                     .reason = fmt::format("job {} was cancelled with bench", id)},
                         .environment = {}});
  }
  batch_.forget_all();
  return "";
}

void Submitter::record_intent(const Bundle& bundle) {
  for_each(bundle, [&](const Planned& one, std::optional<int> task) {
    store_.apply(workspace::SubmissionIntended{
        .workpackage = one.job.workpackage, .submission = bundle.uuid, .task = task});
  });
}

void Submitter::take_back(const Bundle& bundle, const std::string& reason) {
  for_each(bundle, [&](const Planned& one, std::optional<int>) {
    store_.apply(workspace::Interrupted{.workpackage = one.job.workpackage, .reason = reason});
  });
}

std::vector<Submitter::Planned> Submitter::prepare_all(const std::vector<long long>& ids,
                                                       std::vector<Completion>& failed) {
  std::vector<Planned> all;
  all.reserve(ids.size());
  for (const long long id : ids) {
    const Workpackage& workpackage = store_.at(id);
    try {
      if (auto told = lost_.find(workpackage, store_.uuid(id))) {
        failed.push_back(std::move(*told));
        continue;
      }
      Planned planned;
      planned.context = job::context_of(run_, store_.graph(), workpackage, evaluator_);
      job::Prepared prepared = job::prepare(*planned.context, store_.graph(), store_.uuid(id),
                                            store_.inherited_environment(id));
      planned.job = std::move(prepared.job);
      planned.geometry = prepared.geometry;
      limits_.check(planned.geometry, planned.context->step.batch->place);
      budget_.check(planned.geometry, planned.context->step.batch->place);
      const auto head = job::render_head(*planned.context, planned.geometry);
      planned.is_alone = !head;
      planned.head = workpackage.step + "\n" + head.value_or(planned.job.uuid);
      all.push_back(std::move(planned));
    } catch (const Error& error) {
      failed.push_back(failure_by(id, error));
    }
  }
  return all;
}

std::deque<Submitter::Bundle> Submitter::bundle(const std::vector<Planned>& planned) {
  std::vector<std::vector<const Planned*>> groups;
  std::map<std::string_view, std::size_t> index;
  for (const Planned& one : planned) {
    const auto [known, is_new] = index.try_emplace(one.head, groups.size());
    if (is_new)
      groups.emplace_back();
    groups[known->second].push_back(&one);
  }
  std::deque<Bundle> bundles;
  for (const auto& group : groups) {
    const auto pack = static_cast<std::size_t>(group.front()->geometry.pack);
    std::vector<Task> tasks;
    for (const auto& chunk : chunks_of(group, pack))
      tasks.emplace_back(chunk.begin(), chunk.end());
    // The rest of a pack asks for less and goes out alone.
    std::vector<Task> rest;
    if (tasks.back().size() < tasks.front().size()) {
      rest.push_back(std::move(tasks.back()));
      tasks.pop_back();
    }
    const bool arrays = group.front()->context->step.batch->array && tasks.size() > 1;
    for (const auto& chunk : chunks_of(tasks, arrays ? most_of_array() : std::size_t{1}))
      bundles.emplace_back(std::vector(chunk.begin(), chunk.end()));
    if (!rest.empty())
      bundles.emplace_back(std::move(rest));
  }
  return bundles;
}

std::size_t Submitter::most_of_array() {
  // One that has not told its partitions would be waited for again; what it refuses is halved.
  constexpr int usual = 1000;
  const bool is_silent = run_.partitions && !run_.partitions->trouble.empty();
  const int of_platform = run_.platform.polling.max_array_size;
  const int most = is_silent ? (of_platform > 0 ? of_platform : usual) : batch_.max_array_size();
  return static_cast<std::size_t>(most);
}

std::string Submitter::array_of(const Bundle& bundle) const {
  if (bundle.tasks.size() == 1)
    return "";
  const int limit = store_.limit(bundle.first().context->step);
  const std::string range = fmt::format("0-{}", bundle.tasks.size() - 1);
  return limit > 0 ? fmt::format("{}%{}", range, limit) : range;
}

/// The batch system minds the limit of an array. Several submissions wait for each other: a job for
/// the one in its slot, an array for all.
std::string Submitter::dependency_of(const Bundle& bundle) {
  const model::Step& step = bundle.first().context->step;
  const auto limit = static_cast<std::size_t>(store_.limit(step));
  if (limit == 0)
    return "";
  std::vector<std::string> ids;
  const auto& slots = slots_of(step);
  if (bundle.tasks.size() > 1)
    ids = slots;
  else if (slots.size() >= limit)
    ids = {slots.front()};
  for (std::string& id : ids)
    id = batch::without_cluster(id);  // of which a dependency cannot speak
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids.empty() ? "" : "afterany:" + join(ids, ":");
}

/// Jobs that an earlier bench submitted keep their slots.
std::vector<std::string>& Submitter::slots_of(const model::Step& step) {
  const auto [known, is_new] = slots_.try_emplace(step.name);
  std::vector<std::string>& slots = known->second;
  if (!is_new)
    return slots;
  const auto limit = static_cast<std::size_t>(store_.limit(step));
  for (const auto& [workpackage, id] : batch_.ids()) {
    if (&store_.step_of(store_.at(workpackage)) != &step)
      continue;
    const std::string job = batch::array_of(id);
    if (job != id)
      slots.assign(limit, job);  // the latest array waits for those before it
    else if (std::ranges::find(slots, job) == slots.end())
      slots.push_back(job);
  }
  if (slots.size() > limit)
    slots.erase(slots.begin(), slots.end() - static_cast<std::ptrdiff_t>(limit));
  return slots;
}

void Submitter::take_slots(const Bundle& bundle, const std::string& id) {
  const model::Step& step = bundle.first().context->step;
  const auto limit = static_cast<std::size_t>(store_.limit(step));
  if (limit == 0)
    return;
  std::vector<std::string>& slots = slots_of(step);
  if (bundle.tasks.size() > 1) {
    slots.assign(limit, id);
    return;
  }
  if (slots.size() >= limit)
    slots.erase(slots.begin());
  slots.push_back(id);
}

/// A script of its own for one workpackage; else one that runs the scripts of many.
batch::Submission Submitter::write_script(const Bundle& bundle) {
  const Planned& first = bundle.first();
  const std::string dependency = dependency_of(bundle);
  const std::string name = job::job_name(
      run_, first.context->step.name,
      bundle.is_plain() ? std::optional(first.job.workpackage) : std::nullopt, bundle.uuid);
  batch::Submission submission{.uuid = bundle.uuid,
                               .name = name,
                               .script = first.job.script,
                               .directory = first.job.work_directory,
                               .environment = job::script_environment()};
  set_variable(submission.environment, "BENCH_SUBMISSION", bundle.uuid);
  // Some batch systems take the account on their command line only.
  if (const std::string& account = run_.platform.asking.account; !account.empty())
    set_variable(submission.environment, "BENCH_ACCOUNT", account);
  if (bundle.is_plain() && (dependency.empty() || first.is_alone))
    return submission;
  submission.directory = run_.directory.path / "submissions" / bundle.uuid;
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
      job::directive_file(run_.platform, job::messages_of(run_, bundle.uuid));
  write_file_atomically(submission.script,
                        job::fill_job_template(*first.context, first.geometry,
                                               {.uuid = bundle.uuid,
                                                .job_name = name,
                                                .array = array_of(bundle),
                                                .dependency = dependency,
                                                .output = messages,
                                                .error = messages,
                                                .pack = pack,
                                                .parts = job::render_dispatcher(
                                                    *first.context, first.geometry, pack, list)}));
  return submission;
}

/// Fewer tasks may fit.
void Submitter::halve(const Bundle& bundle, std::deque<Bundle>& next) {
  const auto middle = bundle.tasks.begin() + static_cast<std::ptrdiff_t>(bundle.tasks.size() / 2);
  Bundle first({bundle.tasks.begin(), middle});
  Bundle second({middle, bundle.tasks.end()});
  record_intent(first);
  record_intent(second);
  next.push_front(std::move(second));
  next.push_front(std::move(first));
}

/// One answer is enough for jobs that ask for the same; and for all, where nothing else was taken
/// and it is given twice: then it lies with the account, say, not with what the jobs ask for.
void Submitter::refuse(const Bundle& bundle, const std::string& reason) {
  const std::string& head = bundle.first().head;
  const bool is_new = refused_heads_.emplace(head, reason).second;
  newly_refused_ = true;
  if (is_new && !accepted_ && refused_.contains(reason))
    refusal_ = reason;
  for_each(bundle, [&](const Planned& one, std::optional<int>) {
    store_.apply(workspace::Interrupted{.workpackage = one.job.workpackage, .reason = reason});
    store_.defer(one.job.workpackage);
    ++refused_[reason];
  });
}

const std::string* Submitter::refusal_of(const Bundle& bundle) const {
  const auto known = refused_heads_.find(bundle.first().head);
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

/// @param next takes what is to be handed over instead
void Submitter::hand_over(const Bundle& bundle, std::deque<Bundle>& next) {
  if (!budget_.admits(bundle.first().geometry, bundle.tasks.size())) {
    if (bundle.tasks.size() > 1) {
      halve(bundle, next);
      return;
    }
    spent_ = true;
    trouble_ = budget_.refusal();
    take_back(bundle, trouble_);
    return;
  }
  const batch::Submission submission = write_script(bundle);
  const SubmitResult result = batch_.system().submit(submission);
  if (result.kind == SubmitResult::Kind::refused) {
    refuse(bundle, result.reason);
    return;
  }
  if (result.kind == SubmitResult::Kind::full) {
    if (bundle.tasks.size() == 1) {
      trouble_ = result.reason;
      take_back(bundle, result.reason);
      return;
    }
    halve(bundle, next);
    return;
  }
  accepted_ = accepted_ || result.kind == SubmitResult::Kind::accepted;
  budget_.add(bundle.first().geometry, bundle.tasks.size());
  if (result.kind == SubmitResult::Kind::unavailable)
    trouble_ = result.reason;
  else
    take_slots(bundle, result.id);
  for_each(bundle, [&](const Planned& one, std::optional<int> task) {
    const std::string id =
        task && !result.id.empty() ? batch::task_of(result.id, *task) : result.id;
    if (!id.empty())
      store_.apply(workspace::Submitted{.workpackage = one.job.workpackage, .job_id = id});
    batch_.add({.job = one.job,
                .submission = bundle.uuid,
                .name = submission.name,
                .id = id,
                .task = task,
                .messages = job::messages_of(run_, bundle.uuid)});
  });
}

}  // namespace bench::scheduler
