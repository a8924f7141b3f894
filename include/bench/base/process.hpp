#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pthread.h>

#include <bench/base/unique_fd.hpp>

namespace bench {

/// A descriptor that becomes readable once a child of this process has ended.
///
/// It is a pidfd. Before Linux 5.3, and in a container that forbids it, a thread waits for the
/// child instead, without reaping it.
class EndWatch {
 public:
  EndWatch() = default;
  /// @param pid a child that has not been reaped
  explicit EndWatch(int pid);
  EndWatch(EndWatch&& other) noexcept { swap(other); }
  EndWatch& operator=(EndWatch&& other) noexcept {
    swap(other);
    return *this;
  }
  /// Where a thread waits, the child must have ended or been released.
  ~EndWatch() { settle(); }

  /// -1 if no descriptor or no thread was left. The child runs already, so this is not an error.
  int descriptor() const { return descriptor_.get(); }
  /// Whether the child may be reaped: not while it runs and a thread waits for it, since its number
  /// could then become that of another child.
  bool may_reap();
  /// Waits until the child may be reaped.
  void settle();
  /// Leaves the child alone.
  void release();

 private:
  void swap(EndWatch& other) noexcept;

  UniqueFd descriptor_;
  int pid_ = -1;
  std::optional<pthread_t> thread_;
};

/// Environment variables of a child: name and value.
using Environment = std::vector<std::pair<std::string, std::string>>;
/// How an environment differs from another one: name and value, none for a variable that is unset.
using EnvironmentChanges = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// The environment of this process.
Environment current_environment();

/// Sets `name` in `environment`, replacing an earlier value.
void set_variable(Environment& environment, const std::string& name, const std::string& value);

/// What to start. Descriptors of -1 stand for /dev/null (stdin) or this process's own (the others).
struct ProcessSpec {
  std::vector<std::string> arguments;  ///< arguments[0] is looked up on PATH unless it has a slash.
  std::filesystem::path directory;     ///< Empty: the current one.
  std::optional<Environment> environment;  ///< None: this process's.
  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
};

/// How a process ended.
struct ExitStatus {
  int code = 0;    ///< Exit code, meaningful where `signal` is 0.
  int signal = 0;  ///< The signal that ended it, or 0.

  bool success() const { return code == 0 && signal == 0; }
  /// `exit code 3` or `signal 9 (Killed)`.
  std::string description() const;
  bool operator==(const ExitStatus&) const = default;
};

/// A running child in its own process group. Started without fork (a forking launcher costs
/// milliseconds once this process is large), with every other descriptor closed, default signal
/// handling and an empty signal mask.
///
/// The destructor kills the whole group of a child that still runs and reaps it: no child outlives
/// its owner unnoticed, except where it is released or this process itself is killed.
class Process {
 public:
  /// @throws Error if the program cannot be started (not found, no such directory, ...)
  explicit Process(const ProcessSpec& spec);
  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;
  ~Process();

  int pid() const { return pid_; }
  /// A pidfd, or what stands in for it: becomes readable when the child has ended, so that many
  /// children are waited for in one poll. -1 if no descriptor was left for it.
  int pidfd() const { return watch_.descriptor(); }

  /// Waits for the end.
  ExitStatus wait();
  /// How it ended, if it did.
  std::optional<ExitStatus> poll();
  /// Sends the signal to the whole process group.
  void signal_group(int signal);
  /// Lets the child go its own way: it is neither killed nor waited for any more.
  void release();

 private:
  int pid_ = -1;
  EndWatch watch_;
  std::optional<ExitStatus> status_;
};

struct PipeEnds {
  UniqueFd read;
  UniqueFd write;
};

/// A pipe whose ends no started program inherits.
/// @throws Error if no descriptor is left
PipeEnds make_pipe();

/// Output of a command that ran to its end.
struct CommandOutput {
  ExitStatus status;
  std::string standard_output;
  std::string standard_error;
};

/// Runs a command to its end and collects its output. `input` is written to its standard input.
/// @param timeout_s after this many seconds the whole process group is killed
/// @throws Error if it cannot be started, or at the timeout
CommandOutput run_command(ProcessSpec spec, double timeout_s, const std::string& input = "");

// What Linux tells of processes that need not be children of this one; proc(5).

/// Running, that is, neither gone nor a zombie that nobody has reaped.
bool is_alive(int pid);

/// What a variable of a process was when its program began. Empty where it had none, and for
/// processes that are gone or another user's.
///
/// Waits, 10 s at most, for a process that is just beginning its program: it has no environment
/// yet.
std::string variable_of(int pid, const std::string& name);

}  // namespace bench
