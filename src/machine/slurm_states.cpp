#include "slurm_states.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <bench/base/outcome.hpp>
#include <bench/machine/batch_system.hpp>

namespace bench::batch {
namespace {

using State = JobReport::State;

struct Known {
  std::string_view word;
  SlurmState meaning;
};

// Source: squeue(1) of Slurm 22.05, JOB STATE CODES. A job that is requeued waits again.
constexpr std::array<Known, 25> states{{
    {"PENDING", {State::pending, Outcome::done}},
    {"REQUEUED", {State::pending, Outcome::done}},
    {"REQUEUE_FED", {State::pending, Outcome::done}},
    {"CONFIGURING", {State::running, Outcome::done}},
    {"RUNNING", {State::running, Outcome::done}},
    {"COMPLETING", {State::running, Outcome::done}},
    {"SUSPENDED", {State::running, Outcome::done}},
    {"STOPPED", {State::running, Outcome::done}},
    {"RESIZING", {State::running, Outcome::done}},
    {"SIGNALING", {State::running, Outcome::done}},
    {"STAGE_OUT", {State::running, Outcome::done}},
    {"REQUEUE_HOLD", {State::blocked, Outcome::done}},
    {"RESV_DEL_HOLD", {State::blocked, Outcome::done}},
    {"SPECIAL_EXIT", {State::blocked, Outcome::done}},
    {"COMPLETED", {State::ended, Outcome::done}},
    {"FAILED", {State::ended, Outcome::failed}},
    {"TIMEOUT", {State::ended, Outcome::timeout}},
    {"OUT_OF_MEMORY", {State::ended, Outcome::out_of_memory}},
    {"DEADLINE", {State::ended, Outcome::deadline}},
    {"CANCELLED", {State::ended, Outcome::cancelled}},
    {"NODE_FAIL", {State::ended, Outcome::node_fail}},
    {"BOOT_FAIL", {State::ended, Outcome::boot_fail}},
    {"PREEMPTED", {State::ended, Outcome::preempted}},
    {"REVOKED", {State::ended, Outcome::cancelled}},
    {"LAUNCH_FAILED", {State::ended, Outcome::launch_failure}},
}};

/// Reasons of squeue(1), JOB REASON CODES, that need a person; a maintenance, for example, ends by
/// itself.
constexpr std::array<std::string_view, 13> hopeless{"JobHeldUser",
                                                    "JobHeldAdmin",
                                                    "launch failed requeued held",
                                                    "DependencyNeverSatisfied",
                                                    "PartitionNodeLimit",
                                                    "PartitionTimeLimit",
                                                    "PartitionInactive",
                                                    "BadConstraints",
                                                    "InvalidAccount",
                                                    "InvalidQOS",
                                                    "AccountNotAllowed",
                                                    "QOSNotAllowed",
                                                    "ReservationDeleted"};

/// True for `ReqNodeNotAvail, UnavailableNodes:n[1-2]`; before a maintenance it names no nodes.
bool lacks_nodes(std::string_view reason) {
  constexpr std::string_view unavailable = "UnavailableNodes:";
  const auto at = reason.find(unavailable);
  return at != std::string_view::npos && reason.size() > at + unavailable.size();
}

bool is_hopeless(std::string_view reason) {
  return std::ranges::any_of(hopeless, [&](std::string_view word) {
    return reason.starts_with(word) || reason.starts_with("(" + std::string(word));
  });
}

}  // namespace

SlurmState slurm_state(std::string_view word, std::string_view reason) {
  word = word.substr(0, word.find_first_of(" +"));
  const auto found = std::ranges::find(states, word, &Known::word);
  if (found == states.end())
    return {State::pending, Outcome::done};
  SlurmState meaning = found->meaning;
  if (meaning.state == State::pending && is_hopeless(reason))
    meaning.state = State::blocked;
  if (meaning.state == State::pending && lacks_nodes(reason))
    meaning.state = State::without_nodes;
  // Slurm cancelled it, since a job that it was to wait for has failed: it was never tried.
  if (meaning.outcome == Outcome::cancelled && reason == "DependencyNeverSatisfied")
    meaning.outcome = Outcome::interrupted;
  if (meaning.outcome == Outcome::failed && reason == "JobLaunchFailure")
    meaning.outcome = Outcome::launch_failure;
  return meaning;
}

}  // namespace bench::batch
