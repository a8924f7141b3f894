#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/host.hpp>
#include <bench/base/outage.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/environment.hpp>
#include <bench/machine/file_operation.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/local.hpp>
#include <bench/machine/sentinel.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {

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

LocalBackend::Run::Run(Job job, evaluate::Evaluator& evaluator)
    : job_(std::move(job)),
      evaluator_(evaluator),
      started_unix_s_(unix_time_now()),
      started_(Clock::now()) {
  set_deadline(0);
  if (job_.is_batch())
    start_script();
  else
    advance_to_next_snippet();
}

LocalBackend::Run::Run(Job job, evaluate::Evaluator& evaluator, std::vector<int> adopted,
                       double running_for_s)
    : job_(std::move(job)),
      evaluator_(evaluator),
      is_adopted_(true),
      adopted_(std::move(adopted)),
      started_unix_s_(unix_time_now() - running_for_s),
      started_(Clock::now() - std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(running_for_s))) {
  set_deadline(running_for_s);
}

void LocalBackend::Run::set_deadline(double running_for_s) {
  if (job_.timeout_s > 0)
    deadline_ = Clock::now() +
                std::chrono::duration_cast<Clock::duration>(
                    std::chrono::duration<double>(std::max(0.0, job_.timeout_s - running_for_s)));
}

/// Starts the next snippet that has something to execute; without one the attempt has ended.
void LocalBackend::Run::advance_to_next_snippet() {
  process_.reset();
  for (; snippet_ < job_.snippets.size(); ++snippet_, operation_ = 0) {
    const Snippet& snippet = job_.snippets[snippet_];
    // After an error of the machine it continues with the operation that failed.
    for (; operation_ < snippet.before.size(); ++operation_)
      perform(snippet.before[operation_], job_.environment, evaluator_);
    if (!snippet.text.empty()) {
      start_snippet();
      return;
    }
  }
  ending_ = completion(Outcome::done, "", 0);
  if (job_.keep_environment)
    ending_->environment = job_.environment;
}

bool LocalBackend::Run::is_at_last_snippet() const {
  return snippet_ + 1 == job_.snippets.size();
}

/// True if another snippet needs what this one exports.
bool LocalBackend::Run::hands_on_environment() const {
  return !is_at_last_snippet() || job_.keep_environment;
}

UniqueFd LocalBackend::Run::open_output(const std::filesystem::path& file) const {
  return open_to_write(job_.directory.parent_path(), file, O_APPEND);
}

void LocalBackend::Run::start_snippet() {
  const Snippet& snippet = job_.snippets[snippet_];
  const UniqueFd out = open_output(snippet.stdout_file);
  const UniqueFd err = open_output(snippet.stderr_file);
  if (!snippet.directory.empty())
    make_directories(snippet.directory);
  // The next command starts in the environment that a command leaves. The last one writes the
  // sentinel, so that its end is known even if this bench is killed before it records it.
  const std::string sentinel = shell_quote(job_.sentinel.string());
  const std::string script = command_script(
      hands_on_environment() ? environment_file(job_.directory) : std::filesystem::path(),
      is_at_last_snippet() ? fmt::format("echo attempt={0} > {1}; echo exit_code=$bench_status >> "
                                         "{1}\n",
                                         job_.uuid, sentinel)
                           : "");
  const std::string shell = command_shell();
  process_.emplace(
      ProcessSpec{.arguments = {shell, "-c", script, shell, snippet.text},
                  .directory = snippet.directory.empty() ? job_.work_directory : snippet.directory,
                  .environment = job_.environment,
                  .stdout_fd = out.get(),
                  .stderr_fd = err.get()});
}

void LocalBackend::Run::start_script() {
  const UniqueFd out = open_output(job_.work_directory / "stdout");
  const UniqueFd err = open_output(job_.work_directory / "stderr");
  // The script is given by name and attempt, so that a process that a killed bench was about to
  // start does not run the script of the next attempt.
  std::vector<std::string> arguments = job_.script_launcher;
  arguments.insert(arguments.end(), {"/bin/bash", job_.script.string(), job_.uuid});
  process_.emplace(ProcessSpec{.arguments = std::move(arguments),
                               .directory = job_.work_directory,
                               .environment = job_.environment,
                               .stdout_fd = out.get(),
                               .stderr_fd = err.get()});
}

double LocalBackend::Run::seconds_to_deadline() const {
  if (outage_.lasts())
    return outage_.seconds_to_retry();
  if (!deadline_)
    return 1e9;
  return std::chrono::duration<double>(*deadline_ - Clock::now()).count();
}

void LocalBackend::Run::enforce_timeout() {
  if (!deadline_ || Clock::now() < *deadline_)
    return;
  signal_all(timed_out_ ? SIGKILL : SIGTERM);
  timed_out_ = true;
  deadline_ = Clock::now() + grace;
}

bool LocalBackend::Run::wait_for_machine() {
  if (!outage_.lasts())
    held_since_ = Clock::now();
  return outage_.try_again();
}

std::optional<Completion> LocalBackend::Run::advance() {
  if (outage_.seconds_to_retry() > 0)
    return std::nullopt;
  std::optional<Completion> end = advance_now();
  if (outage_.lasts()) {
    outage_.end();
    if (deadline_)
      *deadline_ += Clock::now() - held_since_;
  }
  return end;
}

std::optional<Completion> LocalBackend::Run::advance_now() {
  if (ending_)
    return ending_;
  if (is_adopted_)
    return advance_adopted();
  if (!process_) {
    advance_to_next_snippet();
    return ending_;
  }
  const auto status = process_->poll();
  if (!status) {
    enforce_timeout();
    return std::nullopt;
  }
  if (timed_out_)
    process_->signal_group(SIGKILL);  // whatever of the group ignored the request to end
  return job_.is_batch() ? conclude_script(*status) : advance_snippets(*status);
}

std::optional<Completion> LocalBackend::Run::advance_adopted() {
  // As for any attempt, background processes are not waited for.
  if (auto told = completion_from_sentinel(job_); told && !timed_out_)
    return told;
  if (std::ranges::any_of(adopted_, is_alive)) {
    enforce_timeout();
    return std::nullopt;
  }
  if (timed_out_)
    return timeout();
  if (auto told = completion_from_sentinel(job_))
    return told;  // written between the two reads
  Completion unknown = failure("its processes are gone without a sentinel", std::nullopt);
  unknown.outcome = Outcome::interrupted;
  return unknown;
}

std::optional<Completion> LocalBackend::Run::advance_snippets(const ExitStatus& status) {
  if (timed_out_)
    return timeout();
  if (!status.success()) {
    const Snippet& failed = job_.snippets[snippet_];
    const std::string said = last_line(failed.stderr_file);
    return failure(fmt::format("{}: {}{}{}", failed.name, status.description(),
                               said.empty() ? "" : ": ", said),
                   status.signal == 0 ? std::optional(status.code) : std::nullopt);
  }
  // A command that ends with `exit` or `exec` does not write it: the environment stays unchanged.
  if (hands_on_environment())
    if (auto environment = take_environment(job_.directory))
      job_.environment = std::move(*environment);
  ++snippet_;
  operation_ = 0;
  advance_to_next_snippet();
  return ending_;
}

Completion LocalBackend::Run::conclude_script(const ExitStatus& status) {
  if (timed_out_)
    return timeout();
  if (auto told = completion_from_sentinel(job_))
    return *told;
  const std::string said = last_line(job_.work_directory / "stderr");
  return failure(fmt::format("the job script ended without its sentinel ({}){}{}",
                             status.description(), said.empty() ? "" : ": ", said),
                 std::nullopt);
}

Completion LocalBackend::Run::timeout() const {
  return completion(Outcome::timeout,
                    fmt::format("timeout after {}", human_duration(job_.timeout_s)), std::nullopt);
}

Completion LocalBackend::Run::failure(const std::string& reason,
                                      std::optional<int> exit_code) const {
  return completion(Outcome::failed, reason, exit_code);
}

Completion LocalBackend::Run::completion(Outcome outcome, const std::string& reason,
                                         std::optional<int> exit_code) const {
  Completion end;
  end.workpackage = job_.workpackage;
  end.outcome = outcome;
  end.exit_code = exit_code;
  end.reason = reason;
  end.host = host_name();
  end.started_unix_s = started_unix_s_;
  end.ended_unix_s =
      started_unix_s_ + std::chrono::duration<double>(Clock::now() - started_).count();
  return end;
}

void LocalBackend::Run::signal_all(int signal) {
  if (process_) {
    process_->signal_group(signal);
    return;
  }
  adopted_ = find_orphans({job_.uuid})[job_.uuid];  // it may have started others since
  for (const int pid : adopted_)
    ::kill(pid, signal);
}

void LocalBackend::Run::ask_to_end() {
  signal_all(SIGTERM);
}

void LocalBackend::Run::detach() {
  if (process_)
    process_->release();
}

void LocalBackend::Run::end(Clock::time_point deadline) {
  const auto runs = [&] {
    return process_ ? !process_->poll() : std::ranges::any_of(adopted_, is_alive);
  };
  while (runs() && Clock::now() < deadline)
    ::usleep(10'000);
  signal_all(SIGKILL);
  if (process_)
    process_->wait();
  else
    end_processes(adopted_);
}

LocalBackend::LocalBackend(evaluate::Evaluator& evaluator) : evaluator_(evaluator) {}
LocalBackend::~LocalBackend() = default;

std::size_t LocalBackend::free_slots(int at_once) const {
  std::size_t running = 0;
  for (const auto& run : runs_)
    if (!run->job().has_own_share) {
      at_once = std::min(at_once, run->job().at_once);
      ++running;
    }
  const auto most = static_cast<std::size_t>(std::max(1, at_once));
  return most - std::min(most, running);
}

void LocalBackend::start(Job job) {
  runs_.push_back(std::make_unique<Run>(std::move(job), evaluator_));
}

void LocalBackend::adopt(Job job, std::vector<int> pids, double running_for_s) {
  runs_.push_back(
      std::make_unique<Run>(std::move(job), evaluator_, std::move(pids), running_for_s));
}

std::vector<Completion> LocalBackend::wait(double at_most_s) {
  std::vector<pollfd> waits;
  double wait_s = at_most_s;
  for (const auto& run : runs_) {
    waits.push_back({run->pidfd(), POLLIN, 0});
    wait_s = std::min(wait_s, run->seconds_to_deadline());
    if (run->ended())
      wait_s = 0;
    else if (run->pidfd() < 0)
      wait_s = std::min(wait_s, 0.2);  // no event signals the end of an adopted run
  }
  ::poll(waits.data(), waits.size(), static_cast<int>(std::ceil(std::max(0.0, wait_s) * 1000)));

  std::vector<Completion> completions;
  std::erase_if(runs_, [&](const std::unique_ptr<Run>& run) {
    auto completion = advance(*run);
    if (completion)
      completions.push_back(std::move(*completion));
    return completion.has_value();
  });
  return completions;
}

/// An error of one attempt fails its workpackage, or leaves it open if the machine is at fault; the
/// run continues.
std::optional<Completion> LocalBackend::advance(Run& run) {
  try {
    return run.advance();
  } catch (const Error& error) {
    Completion completion;
    completion.workpackage = run.job().workpackage;
    completion.reason = error.message();
    completion.held_up = is_fault_of_machine(error, run.job().directory.parent_path());
    if (!completion.held_up)
      return completion;
    failure_ = error.message();
    if (run.wait_for_machine())
      return std::nullopt;
    completion.outcome = Outcome::interrupted;
    return completion;
  }
}

std::string LocalBackend::take_failure() {
  return std::exchange(failure_, {});
}

std::size_t LocalBackend::active() const {
  return runs_.size();
}

std::vector<long long> LocalBackend::terminate_all() {
  std::vector<long long> terminated;
  // One deadline for all of them, however many they are.
  for (const auto& run : runs_)
    run->ask_to_end();
  const auto deadline = Run::Clock::now() + Run::grace;
  for (const auto& run : runs_) {
    run->end(deadline);
    terminated.push_back(run->job().workpackage);
  }
  runs_.clear();
  return terminated;
}

void LocalBackend::detach() {
  for (const auto& run : runs_)
    run->detach();
  runs_.clear();
}

namespace {

/// The processes of this machine and user whose environment has the variable with one of these
/// values, by value.
std::map<std::string, std::vector<int>> find_processes(const std::string& variable,
                                                       const std::set<std::string>& values) {
  std::map<std::string, std::vector<int>> found;
  if (values.empty())
    return found;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone))
    if (const auto pid = parse_integer(entry.path().filename().string())) {
      const auto process = static_cast<int>(*pid);
      const std::string value = variable_of(process, variable);
      if (values.contains(value) && is_alive(process))
        found[value].push_back(process);
    }
  return found;
}

/// A job has the variable of its system; the program that submits it does not.
bool is_in_job(int process) {
  return std::ranges::any_of(system_kinds(), [&](const SystemKind* kind) {
    return kind->job_variable && !variable_of(process, kind->job_variable).empty();
  });
}

}  // namespace

std::map<std::string, std::vector<int>> find_orphans(const std::set<std::string>& uuids) {
  return find_processes("BENCH_ATTEMPT", uuids);
}

void end_processes(const std::vector<int>& pids) {
  using std::chrono::milliseconds;
  for (const int pid : pids)
    ::kill(pid, SIGKILL);
  for (int round = 0; std::ranges::any_of(pids, is_alive); ++round) {
    if (round == 1000)
      throw Error(Id::program_failed,
                  fmt::format("cannot end process {} of an earlier attempt", pids.front()),
                  "end it yourself, then run `bench continue`");
    std::this_thread::sleep_for(milliseconds(10));
  }
}

std::map<std::string, std::vector<int>> find_submitters(const std::set<std::string>& submissions) {
  auto found = find_processes("BENCH_SUBMISSION", submissions);
  for (auto& [submission, processes] : found)
    std::erase_if(processes, is_in_job);
  std::erase_if(found, [](const auto& one) { return one.second.empty(); });
  return found;
}

}  // namespace bench::machine
