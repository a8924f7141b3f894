#include <cstddef>
#include <variant>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/text.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/transition.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::workspace {
namespace {

constexpr bool is_in_order() {
  for (std::size_t k = 0; k < transitions.size(); ++k)
    if (static_cast<std::size_t>(transitions[k].change) != k)
      return false;
  return true;
}
static_assert(is_in_order(), "transition_of takes a change for an index");

template <class SomeEvent>
void change_state(const SomeEvent& event, Workpackage& workpackage) {
  const Transition& transition = transition_of(event.change());
  require_legal(transition.change, workpackage.id, workpackage.state);
  workpackage.state = transition.to.value_or(workpackage.state);
}

void end(Attempt& attempt, const AttemptEnd& end, double now_unix_s) {
  attempt.outcome = name_of(end.outcome);
  attempt.exit_code = end.exit_code;
  attempt.reason = to_valid_utf8(end.reason);
  attempt.started_unix_s = end.started_unix_s;
  attempt.ended_unix_s = end.ended_unix_s.value_or(now_unix_s);
  if (!end.host.empty())
    attempt.host = end.host;
}

}  // namespace

void require_legal(Change change, long long workpackage, State state) {
  const Transition& transition = transition_of(change);
  if (!transition.from.contains(state))
    throw Error(Id::wrong_state,
                fmt::format("cannot {} workpackage {} (state: {})", transition.verb, workpackage,
                            name_of(state)),
                "did another program change the workspace?");
}

void apply(const Expanded& event, Workpackage& parent) {
  change_state(event, parent);
  parent.expanded = true;
}

void apply(const ExpandedAhead& event, Workpackage& parent) {
  change_state(event, parent);
  parent.expanded_ahead = true;
}

void apply(const Claimed& event, Workpackage& workpackage) {
  change_state(event, workpackage);
  ++workpackage.attempts;
  workpackage.reason.clear();
}

void apply(const SubmissionIntended& event, Workpackage& workpackage) {
  change_state(event, workpackage);
}

void apply(const SubmissionIntended& event, Attempt& attempt, double) {
  attempt.submission = event.submission;
  attempt.task = event.task;
  attempt.waits_for = event.waits_for;
}

void apply(const Submitted& event, Workpackage& workpackage) {
  change_state(event, workpackage);
}

void apply(const Submitted& event, Attempt& attempt, double) {
  attempt.job_id = event.job_id;
}

void apply(const Ended& event, Workpackage& workpackage) {
  change_state(event, workpackage);
  workpackage.reason = to_valid_utf8(event.attempt.reason);
}

void apply(const Ended& event, Attempt& attempt, double now_unix_s) {
  end(attempt, event.attempt, now_unix_s);
}

void apply(const Retried& event, Workpackage& workpackage) {
  change_state(event, workpackage);
  workpackage.progress = {};
  ++workpackage.retries;
  workpackage.timeouts += event.attempt.outcome == Outcome::timeout ? 1 : 0;
}

void apply(const Retried& event, Attempt& attempt, double now_unix_s) {
  end(attempt, event.attempt, now_unix_s);
}

void apply(const Interrupted& event, Workpackage& workpackage) {
  change_state(event, workpackage);
  workpackage.times_lost += event.lost_in_queue ? 1 : 0;
}

void apply(const Interrupted& event, Attempt& attempt, double now_unix_s) {
  attempt.outcome = name_of(Outcome::interrupted);
  attempt.reason = to_valid_utf8(event.reason);
  attempt.ended_unix_s = now_unix_s;
}

void apply(const Advanced& event, Workpackage& workpackage) {
  change_state(event, workpackage);
  workpackage.progress = event.progress;
}

void apply(const Advanced&, Attempt& attempt, double now_unix_s) {
  if (attempt.outcome.empty())
    attempt.outcome = name_of(Outcome::done);
  if (!attempt.ended_unix_s)
    attempt.ended_unix_s = now_unix_s;
}

void apply(const Skipped& event, Workpackage& workpackage) {
  change_state(event, workpackage);
  workpackage.reason = to_valid_utf8(event.reason);
}

void apply(const Reopened& event, Workpackage& workpackage) {
  change_state(event, workpackage);
  workpackage.reason.clear();
}

void apply(const Reopened&, Attempt& attempt, double) {
  attempt.outcome = name_of(Outcome::done);
  attempt.reason.clear();
}

void apply(const Reset& event, Workpackage& workpackage) {
  change_state(event, workpackage);
  workpackage.progress = {};
  workpackage.expanded = false;
  workpackage.expanded_ahead = false;
  workpackage.reason.clear();
  workpackage.retries = 0;
  workpackage.timeouts = 0;
  workpackage.times_lost = 0;
}

const EnvironmentChanges* environment_after(const Event& event) {
  static const EnvironmentChanges none;
  if (const auto* ended = std::get_if<Ended>(&event))  // one that failed may be reopened
    return ended->attempt.outcome == Outcome::done ? &ended->environment : nullptr;
  if (const auto* advanced = std::get_if<Advanced>(&event))
    return &advanced->environment;
  const bool begins_again =
      std::holds_alternative<Retried>(event) || std::holds_alternative<Reset>(event);
  return begins_again ? &none : nullptr;
}

}  // namespace bench::workspace
