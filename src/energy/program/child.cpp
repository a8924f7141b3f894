#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/child.hpp>
#include <bench/energy/program/sampler.hpp>
#include <bench/energy/sources/claims.hpp>

namespace bench::energy {
namespace {

/// How long a signal may have to wait until it is handled.
constexpr std::chrono::milliseconds slice{20};
/// Between the first two checks for what ends at the same time, as a rule.
constexpr std::chrono::milliseconds shortest_pause{1};
/// How long sources are waited for without sleep. Those that are files take less, and a processor
/// may need 0.1 ms to wake up.
constexpr std::chrono::microseconds awake{500};

sigset_t ending_signals() {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaddset(&ends, signal);
  }
  return ends;
}

}  // namespace

int wait_for_ending_signal(Clock::time_point until) {
  const sigset_t ends = ending_signals();
  for (;;) {
    const auto left = std::max(until - Clock::now(), Clock::duration::zero());
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec time{.tv_sec = static_cast<time_t>(whole.count()),
                        .tv_nsec = std::chrono::nanoseconds(left - whole).count()};
    if (const int signal = ::sigtimedwait(&ends, nullptr, &time); signal > 0)
      return signal;
    if (left == Clock::duration::zero())
      return 0;
  }
}

int wait_for_owners(const Claims& claims) {
  while (claims.owners_prepare())
    if (const int signal = wait_for_ending_signal(Clock::now() + slice); signal != 0)
      return signal;
  return 0;
}

bool wait_for_others(Claims& claims, const ExitStatus& status, Clock::time_point& end) {
  claims.leave();
  for (auto pause = shortest_pause; !claims.close_if_alone(); pause = std::min(2 * pause, slice)) {
    if (!status.success() || wait_for_ending_signal(Clock::now() + pause) != 0)
      return false;
    end = Clock::now();
  }
  return true;
}

SourceWait wait_for_sources(Sampler& sampler, std::chrono::nanoseconds at_most) {
  const Clock::time_point begin = Clock::now();
  const Clock::time_point until = begin + at_most;
  while (!sampler.is_ready() && Clock::now() < std::min(until, begin + awake))
    std::this_thread::yield();
  SourceWait result;
  for (;;) {
    const auto left = std::max<std::chrono::nanoseconds>(until - Clock::now(), {});
    result.ready = sampler.wait_until_ready(std::min<std::chrono::nanoseconds>(left, slice));
    result.signal = wait_for_ending_signal(Clock::time_point());
    if (result.ready || result.signal != 0 || left.count() == 0)
      return result;
  }
}

namespace {

// The exit codes of POSIX shells, env, nohup and timeout.
constexpr int code_not_found = 127;
constexpr int code_not_executable = 126;

std::vector<char*> pointers(const std::vector<std::string>& arguments) {
  std::vector<char*> result;
  for (const std::string& argument : arguments)
    result.push_back(const_cast<char*>(argument.c_str()));
  result.push_back(nullptr);
  return result;
}

/// `NAME=VALUE` each.
std::vector<std::string> lines_of(const Environment& environment) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : environment)
    lines.push_back(name + "=" + value);
  return lines;
}

Started not_started(const std::string& program, int error) {
  return {.pid = -1,
          .exit_code = error == ENOENT ? code_not_found : code_not_executable,
          .message = fmt::format("cannot run '{}': {}", program, std::strerror(error))};
}

Started without_process(int error) {
  return {.pid = -1,
          .needs_this_process = true,
          .message = fmt::format("cannot start a second process: {}", std::strerror(error))};
}

/// What a child needs to become the program.
struct Launch {
  char* const* argv;
  char* const* envp;
  const sigset_t* mask;
  pid_t dies_with;  ///< The meter; 0 where the program is to survive it.
  int errors;       ///< Where to write the error of exec.
};

/// In the child. Other threads of the meter, whose memory it may still use, go on meanwhile and may
/// hold a lock, so nothing here may need one.
[[noreturn]] void become_launched(const Launch& launch) {
  if (launch.dies_with != 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != launch.dies_with)  // it died before the kernel knew
      ::kill(::getpid(), SIGKILL);
  }
  pthread_sigmask(SIG_SETMASK, launch.mask, nullptr);
  ::execvpe(launch.argv[0], launch.argv, launch.envp);
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(launch.errors, &error, sizeof error);
  for (;;)  // not by _exit, where ThreadSanitizer would miss the meter's threads
    ::syscall(SYS_exit_group, code_not_found);
}

/// To the program alone where it shares our process group, which may be that of a script that
/// started us; to all of its group where it has made one.
void pass_on(int signal, pid_t program) {
  const pid_t group = ::getpgid(program);
  ::kill(group > 0 && group != ::getpgrp() ? -group : program, signal);
}

sigset_t every_signal() {
  sigset_t all;
  sigfillset(&all);
  return all;
}

/// Between two looks at the program.
constexpr std::chrono::milliseconds between_looks{250};

/// @returns less than 0 if none has come for a while
int wait_for_signal(siginfo_t& info) {
  const sigset_t all = every_signal();
  const timespec patience{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(between_looks).count()};
  return ::sigtimedwait(&all, &info, &patience);
}

/// True if this process was continued and has not taken note of it: SIGCONT is still pending.
bool was_just_continued() {
  sigset_t pending;
  return ::sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1;
}

/// A batch system that ends a job sends SIGCONT, too, so only a longer silence was a stop.
ProgramEnd ended(const ExitStatus& status, Clock::time_point last_seen) {
  ProgramEnd end{.status = status, .noticed = Clock::now(), .last_seen = std::nullopt};
  if (was_just_continued() && end.noticed - last_seen > 2 * between_looks)
    end.last_seen = last_seen;
  return end;
}

bool stops_from_terminal(int signal) {
  return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

}  // namespace

bool may_be_started(const std::string& program) {
  return ::access(find_program(program).c_str(), X_OK) == 0;
}

// By vfork, since posix_spawn asks after every signal (126 system calls), ignores two more of them
// for the program, and cannot have the kernel kill it. This process handles no signal, so there is
// nothing to reset. An error of exec comes through a pipe, which closes where there is none: under
// a sanitizer vfork is a fork.
Started start_program(const std::vector<std::string>& arguments, const Environment& environment,
                      const sigset_t& mask, OnMeterDeath on_meter_death) {
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<std::string> variables = lines_of(environment);
  const std::vector<char*> envp = pointers(variables);
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return without_process(errno);
  const UniqueFd errors(ends[0]);
  UniqueFd told(ends[1]);
  const Launch launch{.argv = argv.data(),
                      .envp = envp.data(),
                      .mask = &mask,
                      .dies_with = on_meter_death == OnMeterDeath::kill ? ::getpid() : 0,
                      .errors = told.get()};
  const pid_t pid = ::vfork();
  if (pid < 0)
    return without_process(errno);
  if (pid == 0)
    become_launched(launch);
  told = UniqueFd();
  int error = 0;
  if (::read(errors.get(), &error, sizeof error) != sizeof error)
    return {.pid = pid};
  ::waitpid(pid, nullptr, 0);
  return not_started(arguments[0], error);
}

Started become_program(const std::vector<std::string>& arguments, const Environment& environment,
                       const sigset_t& mask) {
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  const std::vector<std::string> variables = lines_of(environment);
  ::execvpe(arguments[0].c_str(), pointers(arguments).data(), pointers(variables).data());
  return not_started(arguments[0], errno);
}

bool should_forward(const siginfo_t& signal, pid_t program) {
  return signal.si_signo != SIGCHLD && signal.si_code <= 0 && signal.si_pid != program;
}

ProgramEnd wait_forwarding(pid_t program) {
  bool stopped = false;
  bool stop_too = false;
  auto last_seen = Clock::now();
  for (;;) {
    int status = 0;
    while (::waitpid(program, &status, WNOHANG | WUNTRACED | WCONTINUED) == program) {
      if (WIFEXITED(status))
        return ended({.code = WEXITSTATUS(status)}, last_seen);
      if (WIFSIGNALED(status))
        return ended({.signal = WTERMSIG(status)}, last_seen);
      stopped = WIFSTOPPED(status);
    }
    if (stopped && stop_too) {
      stop_too = false;
      ::kill(::getpid(), SIGSTOP);
    }
    last_seen = Clock::now();
    siginfo_t info{};
    const int signal = wait_for_signal(info);
    if (signal < 0)
      continue;
    if (stops_from_terminal(signal) || signal == SIGCONT)
      stop_too = signal != SIGCONT;
    if (should_forward(info, program))
      pass_on(signal, program);
  }
}

void end_like(const ExitStatus& status) {
  if (status.signal == 0)
    ::_exit(status.code);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::prctl(PR_SET_DUMPABLE, 0);
  ::signal(status.signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::kill(::getpid(), status.signal);
  ::_exit(128 + status.signal);
}

}  // namespace bench::energy
