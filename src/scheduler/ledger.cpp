#include "ledger.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include <bench/base/host.hpp>
#include <bench/base/uuid.hpp>
#include <bench/job/part.hpp>
#include <bench/job/prepare.hpp>

namespace bench::scheduler {

using workspace::State;
using workspace::Workpackage;

namespace {

workspace::Ending ending_of(const execute::Completion& completion) {
  return {.workpackage = completion.workpackage,
          .outcome = completion.outcome,
          .exit_code = completion.exit_code,
          .reason = completion.reason,
          .host = completion.host,
          .started_unix_s = completion.started_unix_s,
          .ended_unix_s = completion.ended_unix_s,
          .environment = {}};
}

}  // namespace

Ledger::Ledger(const setup::Run& run, workflow::Graph& graph, Queue& queue, Observer& observer)
    : run_(run), graph_(graph), queue_(queue), observer_(observer) {
  for (const model::Step& step : run_.benchmark.steps) {
    step_index_[step.name] = counts_.size();
    counts_.push_back({.step = step.name});
  }
  for (const Workpackage& workpackage : graph_.all())
    ++count_of(workpackage);
}

void Ledger::take_in(const std::vector<Workpackage>& made) {
  for (const Workpackage& workpackage : made) {
    ++count_of(workpackage);
    changes_.created.push_back(workpackage);
    if (workpackage.state == State::failed) {
      any_failed_ = true;
      observer_.failed(workpackage);
    } else {
      queue_.add_ready(workpackage);
    }
  }
}

void Ledger::mark_expanded(const std::vector<long long>& released) {
  for (const long long id : released)
    graph_.at(id).expanded = true;
  changes_.expanded.insert(changes_.expanded.end(), released.begin(), released.end());
}

const std::string& Ledger::claim(Workpackage& workpackage) {
  queue_.started(workpackage);
  set_state(workpackage, State::running);
  ++workpackage.attempts;
  std::string& uuid = uuids_[workpackage.id];
  const std::string digits = job::part_digits(workpackage);
  uuid = make_uuid();
  uuid.replace(uuid.size() - digits.size(), digits.size(), digits);
  changes_.claims.push_back({.workpackage = workpackage.id, .uuid = uuid, .host = host_name()});
  return uuid;
}

void Ledger::book(const Workpackage& workpackage, const std::string& submission,
                  std::optional<int> task) {
  changes_.bookings.push_back({workpackage.id, submission, task});
}

void Ledger::submit(Workpackage& workpackage, const std::string& job_id) {
  set_state(workpackage, State::submitted);
  changes_.submissions.push_back({workpackage.id, job_id});
}

void Ledger::end(Workpackage& workpackage, const execute::Completion& completion,
                 const workspace::EnvironmentChanges& environment) {
  const State before = workpackage.state;
  set_state(workpackage, completion.success() ? State::done : State::failed);
  workpackage.reason = completion.reason;
  queue_.stopped(workpackage, before);
  uuids_.erase(workpackage.id);
  job::write_marker(run_, workpackage, completion.success(), completion.reason);
  changes_.endings.push_back(ending_of(completion));
  changes_.endings.back().environment = environment;
  if (!completion.success()) {
    any_failed_ = true;
    observer_.failed(workpackage);
  }
}

void Ledger::repeat(Workpackage& workpackage, const execute::Completion& completion) {
  const State before = workpackage.state;
  set_state(workpackage, State::ready);
  workpackage.progress = {};
  ++workpackage.retries;
  workpackage.timeouts += completion.outcome == Outcome::timeout ? 1 : 0;
  queue_.stopped(workpackage, before);
  queue_.add_ready(workpackage);
  changes_.repetitions.push_back({ending_of(completion)});
  observer_.repeated(workpackage, completion.reason);
}

void Ledger::advance(Workpackage& workpackage, State to, const workspace::Progress& progress,
                     const workspace::EnvironmentChanges& environment) {
  const State before = workpackage.state;
  set_state(workpackage, to);
  workpackage.progress = progress;
  queue_.stopped(workpackage, before);
  if (to == State::ready)
    queue_.add_ready(workpackage);
  advanced_[workpackage.id] = changes_.advances.size();
  changes_.advances.push_back({workpackage.id, to, progress, environment});
}

void Ledger::come_back(Workpackage& workpackage, const std::string& reason) {
  cut_off(workpackage, reason);
  queue_.add_ready(workpackage);
}

void Ledger::come_back_later(Workpackage& workpackage, const std::string& reason) {
  cut_off(workpackage, reason);
}

void Ledger::hold_back(Workpackage& workpackage, const std::string& reason) {
  cut_off(workpackage, reason);
  leave(reason);
}

void Ledger::leave(const std::string& reason) {
  if (held_++ == 0)
    first_held_reason_ = reason;
}

void Ledger::cut_off(Workpackage& workpackage, const std::string& reason) {
  const State before = workpackage.state;
  set_state(workpackage, State::ready);
  queue_.stopped(workpackage, before);
  changes_.interruptions.push_back({workpackage.id, reason});
}

bool Ledger::any_pending() const {
  return std::ranges::any_of(counts_, [](const auto& step) { return step.pending > 0; });
}

std::string Ledger::held_back() const {
  if (held_ == 0)
    return "";
  return fmt::format("{} workpackage{} could not be started or taken further: {}", held_,
                     held_ == 1 ? "" : "s", first_held_reason_);
}

const workspace::StepCounts& Ledger::counts_of(const std::string& step) const {
  return counts_[step_index_.at(step)];
}

const workspace::EnvironmentChanges* Ledger::unwritten_environment(long long id) const {
  const auto found = advanced_.find(id);
  return found == advanced_.end() ? nullptr : &changes_.advances[found->second].environment;
}

workspace::Changes Ledger::take_changes() {
  advanced_.clear();
  return std::exchange(changes_, {});
}

long long& Ledger::count_of(const Workpackage& workpackage) {
  return counts_[step_index_.at(workpackage.step)].of(workpackage.state);
}

void Ledger::set_state(Workpackage& workpackage, State state) {
  --count_of(workpackage);
  workpackage.state = state;
  ++count_of(workpackage);
}

}  // namespace bench::scheduler
