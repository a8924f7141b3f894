#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::workspace {

/// A set of states.
class States {
 public:
  constexpr States(std::initializer_list<State> states) {
    for (const State state : states)
      bits_ = static_cast<std::uint8_t>(bits_ | bit(state));
  }
  constexpr bool contains(State state) const { return (bits_ & bit(state)) != 0; }

 private:
  static constexpr unsigned bit(State state) { return 1U << static_cast<unsigned>(state); }
  std::uint8_t bits_ = 0;
};

/// A row of the table: from which states a change is legal, and to which one it leads.
struct Transition {
  Change change;
  std::string_view verb;  ///< In messages: "cannot start workpackage 3 (state: done)".
  States from;
  std::optional<State> to;  ///< None: the state stays as it is.
};

/// Every legal transition. A workpackage begins as ready; or as failed where it stands for children
/// that could not be made.
inline constexpr std::array<Transition, 14> transitions{{
    {Change::expand, "expand", {State::done}, std::nullopt},
    // It is submitted when its children are begun, and may have gone on when they are complete.
    {Change::expand_ahead,
     "expand",
     {State::ready, State::running, State::submitted, State::done, State::failed, State::skipped},
     std::nullopt},
    {Change::claim, "start", {State::ready}, State::running},
    {Change::intend_submission, "submit", {State::running}, std::nullopt},
    {Change::submit, "submit", {State::running}, State::submitted},
    {Change::finish, "end", {State::running, State::submitted, State::waiting}, State::done},
    {Change::fail, "end", {State::running, State::submitted, State::waiting}, State::failed},
    {Change::retry, "retry", {State::running, State::submitted, State::waiting}, State::ready},
    {Change::interrupt, "requeue", {State::running, State::submitted}, State::ready},
    {Change::advance, "advance", {State::running, State::submitted, State::waiting}, State::ready},
    {Change::wait, "advance", {State::running, State::submitted, State::waiting}, State::waiting},
    {Change::skip, "skip", {State::ready}, State::skipped},
    {Change::reopen, "reopen", {State::failed}, State::waiting},
    {Change::reset,
     "reset",
     {State::ready, State::waiting, State::done, State::failed, State::skipped},
     State::ready},
}};

constexpr const Transition& transition_of(Change change) {
  return transitions[static_cast<std::size_t>(change)];
}

/// @throws Error if the change is illegal in this state
void require_legal(Change change, long long workpackage, State state);

// What an event does to one of its workpackages. All throw Error, and change nothing, where it is
// illegal in the state of the workpackage.

/// Only to a parent; the children are new.
void apply(const Expanded& event, Workpackage& parent);
void apply(const ExpandedAhead& event, Workpackage& parent);
void apply(const Claimed& event, Workpackage& workpackage);
void apply(const SubmissionIntended& event, Workpackage& workpackage);
void apply(const Submitted& event, Workpackage& workpackage);
void apply(const Ended& event, Workpackage& workpackage);
void apply(const Retried& event, Workpackage& workpackage);
void apply(const Interrupted& event, Workpackage& workpackage);
void apply(const Advanced& event, Workpackage& workpackage);
void apply(const Skipped& event, Workpackage& workpackage);
void apply(const Reopened& event, Workpackage& workpackage);
void apply(const Reset& event, Workpackage& workpackage);

// What it does to the latest attempt of the workpackage, at this time in seconds since 1970.

void apply(const SubmissionIntended& event, Attempt& attempt, double now_unix_s);
void apply(const Submitted& event, Attempt& attempt, double now_unix_s);
void apply(const Ended& event, Attempt& attempt, double now_unix_s);
void apply(const Retried& event, Attempt& attempt, double now_unix_s);
void apply(const Interrupted& event, Attempt& attempt, double now_unix_s);
void apply(const Advanced& event, Attempt& attempt, double now_unix_s);
void apply(const Reopened& event, Attempt& attempt, double now_unix_s);

/// The environment that an event leaves for the next segment of its workpackage, or for its
/// children; null where it stays as it was.
const EnvironmentChanges* environment_after(const Event& event);
const EnvironmentChanges* environment_after(Event&&) = delete;  // it points into the event

}  // namespace bench::workspace
