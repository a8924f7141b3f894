#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// What became of an attempt of a workpackage.
enum class Outcome {
  done,
  failed,          ///< Its commands failed, or what comes before or after them.
  timeout,         ///< It ran out of its time limit.
  node_fail,       ///< A node was lost under it.
  boot_fail,       ///< A node did not come up for it.
  preempted,       ///< A job of higher priority took its place.
  out_of_memory,   ///< The system ended it for want of memory.
  cancelled,       ///< By a person, or since it could never start.
  deadline,        ///< It could not end before the deadline that it was given.
  launch_failure,  ///< The batch system could not start it, or refused it.
  lost,            ///< It began, and then nobody knows of it any more.
  interrupted      ///< It was cut off and says nothing about the workpackage, which is made again.
};

/// The end of an attempt.
struct AttemptEnd {
  Outcome outcome = Outcome::failed;
  std::optional<int> exit_code;
  std::string reason;  ///< Why it failed or was cut off; empty for success.
  std::string host;    ///< Where it ran; empty: unknown.
  /// The clock at the start, and the same with what has passed since by a clock that nobody sets.
  std::optional<double> started_unix_s;
  std::optional<double> ended_unix_s;  ///< None: now.

  bool success() const { return outcome == Outcome::done; }
};

/// `done`, `node_fail`, ...: the words in the database, in `retry` and in every message.
std::string_view name_of(Outcome outcome);
/// Nothing for a word that names none.
std::optional<Outcome> outcome_of(std::string_view word);
/// The words of those after which an attempt can be made again, in order.
std::vector<std::string> retryable_outcomes();

}  // namespace bench
