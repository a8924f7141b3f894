#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/outage.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/process.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/local.hpp>

namespace bench::execute {

/// One attempt on its way: the process that runs now, and how far it has come.
class LocalBackend::Run {
 public:
  Run(Job job, evaluate::Evaluator& evaluator);
  Run(Job job, evaluate::Evaluator& evaluator, std::vector<int> adopted, double running_for_s);

  const Job& job() const { return job_; }
  /// To poll for; -1 for an adopted run, which has to be looked at from time to time.
  int pidfd() const { return process_ && !outage_.lasts() ? process_->pidfd() : -1; }
  /// It has ended, and `advance` will say how.
  bool ended() const { return ending_.has_value(); }
  /// Seconds until the timeout, or what the machine has refused, needs attention; a large number
  /// where nothing does.
  double seconds_to_deadline() const;
  /// Goes on where the process has ended: next snippet, or the completion.
  /// @throws Error if that is not possible; after one of the machine it can be called again
  std::optional<Completion> advance();
  /// The machine has kept it from going on.
  /// @returns whether it tries again by itself
  bool wait_for_machine();
  using Clock = std::chrono::steady_clock;
  /// Between asking processes to end and making them.
  static constexpr std::chrono::seconds grace{5};

  /// Asks all processes of the attempt to end.
  void ask_to_end();
  /// Makes those end that have not by the deadline.
  void end(Clock::time_point deadline);
  /// Lets them go their own way.
  void detach();

 private:
  std::optional<Completion> advance_now();
  void advance_to_next_snippet();
  void start_snippet();
  UniqueFd open_output(const std::filesystem::path& file) const;
  bool is_at_last_snippet() const;
  bool hands_on_environment() const;
  void start_script();
  void set_deadline(double running_for_s);
  void enforce_timeout();
  std::optional<Completion> advance_adopted();
  void signal_all(int signal);
  std::optional<Completion> advance_snippets(const ExitStatus& status);
  Completion timeout() const;
  Completion conclude_script(const ExitStatus& status);
  Completion completion(Outcome outcome, const std::string& reason,
                        std::optional<int> exit_code) const;
  Completion failure(const std::string& reason, std::optional<int> exit_code) const;

  Job job_;
  evaluate::Evaluator& evaluator_;
  bool is_adopted_ = false;
  std::vector<int> adopted_;
  std::optional<Process> process_;
  Outage outage_;
  Clock::time_point held_since_{};
  std::size_t snippet_ = 0;
  std::size_t operation_ = 0;  ///< Of those before the snippet.
  std::optional<Completion> ending_;
  double started_unix_s_;
  Clock::time_point started_;  ///< The same moment.
  std::optional<Clock::time_point> deadline_;
  bool timed_out_ = false;
};

}  // namespace bench::execute
