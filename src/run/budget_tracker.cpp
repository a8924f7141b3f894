#include "budget_tracker.hpp"

#include "state_store.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/time.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {
namespace {

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

}  // namespace bench::run
