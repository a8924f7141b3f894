#include <cstddef>

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
  const Transition& transition = transition_of(change_of(event));
  require_legal(transition.change, workpackage.id, workpackage.state);
  workpackage.state = transition.to.value_or(workpackage.state);
}

}  // namespace

void require_legal(Change change, long long workpackage, State state) {
  const Transition& transition = transition_of(change);
  if (!transition.from.contains(state))
    throw Error(fmt::format("cannot {} workpackage {} (state: {})", transition.verb, workpackage,
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

void apply(const Submitted& event, Workpackage& workpackage) {
  change_state(event, workpackage);
}

void apply(const Ended& event, Workpackage& workpackage) {
  change_state(event, workpackage);
  workpackage.reason = to_valid_utf8(event.attempt.reason);
}

void apply(const Retried& event, Workpackage& workpackage) {
  change_state(event, workpackage);
  workpackage.progress = {};
  ++workpackage.retries;
  workpackage.timeouts += event.attempt.outcome == Outcome::timeout ? 1 : 0;
}

void apply(const Interrupted& event, Workpackage& workpackage) {
  change_state(event, workpackage);
  workpackage.times_lost += event.lost_in_queue ? 1 : 0;
}

void apply(const Advanced& event, Workpackage& workpackage) {
  change_state(event, workpackage);
  workpackage.progress = event.progress;
}

void apply(const Skipped& event, Workpackage& workpackage) {
  change_state(event, workpackage);
  workpackage.reason = to_valid_utf8(event.reason);
}

void apply(const Reopened& event, Workpackage& workpackage) {
  change_state(event, workpackage);
  workpackage.reason.clear();
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

}  // namespace bench::workspace
