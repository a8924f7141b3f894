#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/base/outcome.hpp>

namespace bench::workspace {

/// Where a workpackage stands. It begins as ready, or as failed where it could not be given its
/// parameters. The only ways: ready -> running -> done | failed;
/// running -> submitted -> done | failed (a scheduler has it); running | submitted -> ready (its
/// attempt was interrupted before it ended, so it is made again); running | submitted -> pending
/// (it waits for a `done_file`, or for the others before a shared command) -> ready | failed;
/// running -> ready with more progress (the next part can start); running | submitted -> ready
/// (the attempt has failed, and the step says `retry`); done | failed -> ready (removed by the
/// user, to be made again).
enum class State { ready, running, submitted, pending, done, failed };

/// `ready`, `running`, ...: the words in the database and in every message.
std::string_view name_of(State state);

/// Parameters in the order of expansion: name and value.
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// What differs from another environment: name and value, none for a variable that is not set.
using EnvironmentChanges = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// How far a workpackage has come; what is behind it is not repeated.
struct Progress {
  bool prepared = false;  ///< Its directory, files and substitutions are there.
  int cycle = 0;
  int command = 0;  ///< Index of the next command of the cycle.

  bool operator==(const Progress&) const = default;
};

/// One step with one combination of parameters and one iteration number.
struct Workpackage {
  long long id = 0;
  std::string step;
  int iteration = 0;
  long long combination = 0;  ///< Id of the first iteration; equal for all iterations of one point.
  std::vector<long long> parents;
  Parameters parameters;
  std::string directory;  ///< Relative to the run directory.
  State state = State::ready;
  Progress progress;
  bool expanded = false;  ///< Its children have been made.
  std::string reason;     ///< Why it failed; empty otherwise.
  int attempts = 0;       ///< How often something of it was started.
  int retries = 0;        ///< How often it was made again after a failure, by the step's `retry`.
  int timeouts = 0;       ///< How many of those failures were timeouts.

  bool has_ended() const { return state == State::done || state == State::failed; }
  /// It stands for what could not be made, and has neither parameters of its own nor a directory.
  bool was_never_made() const { return state == State::failed && attempts == 0; }
};

/// A workpackage is about to start. Recorded before anything is made or started.
struct Claim {
  long long workpackage = 0;
  std::string uuid;  ///< Identifies the attempt to a scheduler and in the environment.
  std::string host;  ///< Where bench ran.
};

/// An attempt is about to be handed to a batch system. Recorded before it is.
struct Booking {
  long long workpackage = 0;
  std::string submission;   ///< UUID in the job's comment; several attempts share it in an array.
  std::optional<int> task;  ///< Of an array.
};

/// A batch system has taken an attempt.
struct Submission {
  long long workpackage = 0;
  std::string job_id;
};

/// An attempt has ended.
struct Ending {
  long long workpackage = 0;
  Outcome outcome = Outcome::failed;
  std::optional<int> exit_code;
  std::string reason;  ///< Why it failed; empty for success.
  std::string host;    ///< Where it ran, if known.
  std::optional<double> started_unix_s;
  std::optional<double> ended_unix_s;
  /// What it hands on to the workpackages that depend on it; empty unless its step exports.
  EnvironmentChanges environment;
};

/// An attempt was cut off before it ended; the workpackage is ready again.
struct Interruption {
  long long workpackage = 0;
  std::string reason;
};

/// An attempt has failed, and the workpackage is made again from the beginning.
struct Repetition {
  Ending ending;  ///< Of the attempt.
};

/// A part of a workpackage has ended, and another is left.
struct Advance {
  long long workpackage = 0;
  State to = State::ready;  ///< Or pending.
  Progress progress;
  /// Of the environment that the next part begins with, against bench's own.
  EnvironmentChanges environment;
};

/// Everything that changes at one moment. Written in one transaction.
struct Changes {
  std::vector<Workpackage> created;
  std::vector<long long> expanded;
  std::vector<Claim> claims;
  std::vector<Booking> bookings;
  std::vector<Submission> submissions;
  std::vector<Ending> endings;
  std::vector<Interruption> interruptions;
  std::vector<Repetition> repetitions;
  std::vector<Advance> advances;
  std::vector<long long> reset;    ///< To be made again from the beginning.
  std::vector<long long> removed;  ///< Deleted, with their attempts and findings.

  bool empty() const {
    return created.empty() && expanded.empty() && claims.empty() && bookings.empty() &&
           submissions.empty() && endings.empty() && interruptions.empty() && repetitions.empty() &&
           advances.empty() && reset.empty() && removed.empty();
  }
};

/// The latest attempt of a workpackage.
struct Attempt {
  long long workpackage = 0;
  int number = 0;
  std::string uuid;
  std::string host;
  std::string job_id;
  std::string submission;   ///< UUID in the job's comment; empty where no batch system has it.
  std::optional<int> task;  ///< Of an array.
  std::string outcome;      ///< A word of Outcome; empty while it is under way.
  double claimed_unix_s = 0;
  std::optional<double> started_unix_s;
  std::optional<double> ended_unix_s;
  std::optional<int> exit_code;
  std::string reason;
};

/// How many workpackages of one step are in each state.
struct StepCounts {
  std::string step;
  long long ready = 0;
  long long running = 0;
  long long submitted = 0;
  long long pending = 0;
  long long done = 0;
  long long failed = 0;

  /// The counter of a state.
  long long& of(State state) {
    switch (state) {
      case State::ready:
        return ready;
      case State::running:
        return running;
      case State::submitted:
        return submitted;
      case State::pending:
        return pending;
      case State::done:
        return done;
      case State::failed:
        break;
    }
    return failed;
  }
  long long all() const { return ready + running + submitted + pending + done + failed; }
};

}  // namespace bench::workspace
