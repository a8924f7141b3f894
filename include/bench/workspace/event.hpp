#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <bench/base/outcome.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::workspace {

// What happens to the workpackages of a run. transition.hpp says when each event is legal and what
// it changes: the scheduler's state store applies it to its memory, the workspace to its rows.

/// What an event does to each of its workpackages. Two events have two outcomes each: one that has
/// ended is done or failed, one that has advanced is ready or waiting.
enum class Change {
  expand,
  expand_ahead,
  claim,
  intend_submission,
  submit,
  finish,
  fail,
  retry,
  interrupt,
  advance,
  wait,
  skip,
  reopen,
  reset
};

/// New workpackages: the children of these parents, all of them, or with no parents the first ones
/// of a run. One event, so that a run never holds some children of a parent without the others.
struct Expanded {
  std::vector<long long> parents;
  std::vector<Workpackage> children;  ///< Ready; or failed where they could not be made.

  Change change() const { return Change::expand; }
};

/// New workpackages of chained steps, which do not have to wait for the ends of these parents:
/// their jobs will. The children of other steps follow once the parents are done.
struct ExpandedAhead {
  std::vector<long long> parents;
  std::vector<Workpackage> children;

  Change change() const { return Change::expand_ahead; }
};

/// An attempt is about to start. Recorded before any file is made or any process started.
struct Claimed {
  long long workpackage = 0;
  std::string uuid;  ///< Identifies the attempt to a batch system and in the environment.
  std::string host;  ///< Where bench runs.

  Change change() const { return Change::claim; }
};

/// An attempt is about to be handed to a batch system. Recorded before it is.
struct SubmissionIntended {
  long long workpackage = 0;
  std::string submission;   ///< UUID in the job's comment; several attempts share it in an array.
  std::optional<int> task;  ///< Of an array.
  /// The jobs of its parents that have to end well before it begins, separated by commas; empty:
  /// none.
  std::string waits_for = {};

  Change change() const { return Change::intend_submission; }
};

/// A batch system has accepted an attempt.
struct Submitted {
  long long workpackage = 0;
  std::string job_id;

  Change change() const { return Change::submit; }
};

/// The last segment of a workpackage has ended, or one failed.
struct Ended {
  long long workpackage = 0;
  AttemptEnd attempt;
  /// What its children inherit; empty unless its step exports. Not of one that failed, which keeps
  /// the environment in which it waited.
  EnvironmentChanges environment;

  Change change() const { return attempt.outcome == Outcome::done ? Change::finish : Change::fail; }
};

/// An attempt has failed, and the workpackage starts again from its beginning, as its step's
/// `retry` says.
struct Retried {
  long long workpackage = 0;
  AttemptEnd attempt;

  Change change() const { return Change::retry; }
};

/// An attempt was cut off before it ended; the same segment starts again.
struct Interrupted {
  long long workpackage = 0;
  std::string reason;
  bool lost_in_queue = false;  ///< The batch system lost the job before it began.

  Change change() const { return Change::interrupt; }
};

/// A segment of a workpackage has ended, and another follows.
struct Advanced {
  long long workpackage = 0;
  State to = State::ready;  ///< Or waiting.
  Progress progress;
  /// What the next segment inherits, against bench's own environment.
  EnvironmentChanges environment;

  Change change() const { return to == State::waiting ? Change::wait : Change::advance; }
};

/// A workpackage that has not begun will not run: another result implies its own.
struct Skipped {
  long long workpackage = 0;
  std::string reason;

  Change change() const { return Change::skip; }
};

/// The file that a workpackage waited for has appeared after the workpackage was given up: it waits
/// again, and goes on from there.
struct Reopened {
  long long workpackage = 0;

  Change change() const { return Change::reopen; }
};

/// The user wants these workpackages repeated from the beginning.
struct Reset {
  std::vector<long long> workpackages;

  Change change() const { return Change::reset; }
};

/// The user has removed the ancestors of these workpackages, and with them their attempts and
/// findings.
struct Removed {
  std::vector<long long> workpackages;
};

using Event = std::variant<Expanded, ExpandedAhead, Claimed, SubmissionIntended, Submitted, Ended,
                           Retried, Interrupted, Advanced, Skipped, Reopened, Reset, Removed>;
/// In the order in which they happened.
using Events = std::vector<Event>;

}  // namespace bench::workspace
