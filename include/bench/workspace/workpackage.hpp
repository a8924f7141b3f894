#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/base/process.hpp>

namespace bench::workspace {

/// The state of a workpackage: `ready` to start (for the first time, or its next segment),
/// `running` here, `submitted` to a batch system, `waiting` on a `done_file` or at a barrier before
/// a shared command, or at its end. `skipped` never runs, since another result implies its own.
/// transition.hpp has the legal transitions.
enum class State { ready, running, submitted, waiting, done, failed, skipped };

/// In the order in which tables and messages name them.
inline constexpr std::array all_states{State::done,    State::failed,    State::skipped,
                                       State::running, State::submitted, State::waiting,
                                       State::ready};

/// `ready`, `running`, ...: the words in the database and in every message.
std::string_view name_of(State state);
/// @throws Error for a word that names none
State state_of(std::string_view word);

/// Parameters in the order of expansion: name and value.
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// The value of a parameter; null if there is none of that name.
const std::string* value_of(const Parameters& parameters, std::string_view name);

/// Whether these parameters have all values of a point.
bool is_at(const Parameters& parameters, const Parameters& point);

/// The values of these parameters, by name; nothing for a name that there is none of.
std::map<std::string, std::string, std::less<>> values_of(const Parameters& parameters,
                                                          const std::vector<std::string>& names);

using bench::EnvironmentChanges;

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
  bool expanded = false;        ///< Its children have been made.
  bool expanded_ahead = false;  ///< Those of chained steps were, before it had ended.
  std::string reason;           ///< Why it failed or was skipped; empty otherwise.
  int attempts = 0;             ///< How often something of it was started.
  int retries = 0;     ///< How often it was made again after a failure, by the step's `retry`.
  int timeouts = 0;    ///< How many of those failures were timeouts.
  int times_lost = 0;  ///< How often a batch system lost its job before it began.

  bool operator==(const Workpackage&) const = default;

  bool has_ended() const {
    return state == State::done || state == State::failed || state == State::skipped;
  }
  /// It stands for what could not be made, and has neither parameters of its own nor a directory.
  bool was_never_made() const { return state == State::failed && attempts == 0; }
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
  std::string waits_for;    ///< Jobs of its parents that it was chained to, by commas; or empty.
  std::string outcome;      ///< A word of Outcome; empty while it is under way.
  double claimed_unix_s = 0;
  std::optional<double> started_unix_s;
  std::optional<double> ended_unix_s;
  std::optional<int> exit_code;
  std::string reason;

  /// The clocks of its start and its end contradict each other: it ended before it began.
  bool has_clock_error() const {
    return started_unix_s && ended_unix_s && *ended_unix_s < *started_unix_s;
  }
  /// How long it ran; none where that is unknown.
  std::optional<double> run_time_s() const {
    return !started_unix_s || !ended_unix_s || has_clock_error()
               ? std::nullopt
               : std::optional(*ended_unix_s - *started_unix_s);
  }
};

/// How many workpackages of one step are in each state.
struct StepCounts {
  std::string step;
  long long ready = 0;
  long long running = 0;
  long long submitted = 0;
  long long waiting = 0;
  long long done = 0;
  long long failed = 0;
  long long skipped = 0;

  bool operator==(const StepCounts&) const = default;

  /// The counter of a state.
  long long of(State state) const { return this->*counters[static_cast<std::size_t>(state)]; }
  long long& of(State state) { return this->*counters[static_cast<std::size_t>(state)]; }
  long long ended() const { return done + failed + skipped; }
  long long all() const { return ready + running + submitted + waiting + ended(); }

 private:
  /// In the order of State.
  static constexpr std::array<long long StepCounts::*, 7> counters{
      &StepCounts::ready, &StepCounts::running, &StepCounts::submitted, &StepCounts::waiting,
      &StepCounts::done,  &StepCounts::failed,  &StepCounts::skipped};
};

/// `9 done, 1 failed, 2 running, 48 ready`: the states that workpackages are in.
std::string text_of(const StepCounts& counts);

/// A row of headings and a row per step: its name, all of its workpackages, and how many are in
/// each state. Only `done` and `failed` have a column where no workpackage is in that state.
std::vector<std::vector<std::string>> table_of(const std::vector<StepCounts>& counts);

/// The sum of the counts of all steps.
StepCounts sum_of(const std::vector<StepCounts>& counts);

}  // namespace bench::workspace
