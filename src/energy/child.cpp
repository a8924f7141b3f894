#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/child.hpp>

extern char** environ;

namespace bench::energy {
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

Started not_started(const std::string& program, int error) {
  return {.pid = -1,
          .exit_code = error == ENOENT ? code_not_found : code_not_executable,
          .message = fmt::format("cannot run '{}': {}", program, std::strerror(error))};
}

/// Only the mask is set: this process handles no signal, so what it ignores, it was told to.
class SpawnAttributes {
 public:
  explicit SpawnAttributes(const sigset_t& mask) {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &mask);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

/// In the child, up to the program: this process has threads, so nothing here may need a lock.
[[noreturn]] void become_dying_program(char* const* argv, const sigset_t& mask, pid_t meter,
                                       int errors) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != meter)  // it died before the kernel knew
    ::kill(::getpid(), SIGKILL);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  ::execvp(argv[0], argv);
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(errors, &error, sizeof error);
  ::_exit(code_not_found);
}

/// By fork, since posix_spawn cannot have the kernel kill the program. An error of exec comes
/// through a pipe, which closes where there is none.
Started start_dying_program(const std::vector<std::string>& arguments, const sigset_t& mask) {
  const std::vector<char*> argv = pointers(arguments);
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return not_started(arguments[0], errno);
  const UniqueFd errors(ends[0]);
  UniqueFd told(ends[1]);
  const pid_t meter = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0)
    return not_started(arguments[0], errno);
  if (pid == 0)
    become_dying_program(argv.data(), mask, meter, told.get());
  told = UniqueFd();
  int error = 0;
  if (::read(errors.get(), &error, sizeof error) != sizeof error)
    return {.pid = pid};
  ::waitpid(pid, nullptr, 0);
  return not_started(arguments[0], error);
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

int wait_for_signal(siginfo_t& info) {
  const sigset_t all = every_signal();
  return ::sigwaitinfo(&all, &info);
}

/// -1 and EAGAIN where none has come.
int wait_for_signal_until(std::chrono::steady_clock::time_point time, siginfo_t& info) {
  const auto left = std::max<std::chrono::nanoseconds>(time - std::chrono::steady_clock::now(),
                                                       std::chrono::nanoseconds(0));
  constexpr long long second_ns = 1'000'000'000;
  const timespec at_most{.tv_sec = left.count() / second_ns, .tv_nsec = left.count() % second_ns};
  const sigset_t all = every_signal();
  return ::sigtimedwait(&all, &info, &at_most);
}

bool stops_from_terminal(int signal) {
  return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

}  // namespace

sigset_t block_signals() {
  // An inherited SIG_IGN would have the kernel throw the program's exit status away.
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  return before;
}

Started start_program(const std::vector<std::string>& arguments, const sigset_t& mask,
                      OnMeterDeath on_meter_death) {
  if (on_meter_death == OnMeterDeath::kill)
    return start_dying_program(arguments, mask);
  const SpawnAttributes attributes(mask);
  std::vector<char*> argv = pointers(arguments);
  Started started;
  int error = posix_spawnp(&started.pid, argv[0], nullptr, attributes.get(), argv.data(), environ);
  if (error == ENOEXEC) {
    std::string shell = "/bin/sh";
    std::string script = find_program(arguments[0]).string();
    argv[0] = script.data();
    argv.insert(argv.begin(), shell.data());
    error =
        posix_spawn(&started.pid, shell.c_str(), nullptr, attributes.get(), argv.data(), environ);
  }
  return error == 0 ? started : not_started(arguments[0], error);
}

Started become_program(const std::vector<std::string>& arguments,
                       const std::optional<sigset_t>& mask) {
  if (mask)
    pthread_sigmask(SIG_SETMASK, &*mask, nullptr);
  const std::vector<char*> argv = pointers(arguments);
  ::execvp(argv[0], argv.data());
  return not_started(arguments[0], errno);
}

bool should_forward(const siginfo_t& signal, pid_t program) {
  return signal.si_signo != SIGCHLD && signal.si_code <= 0 && signal.si_pid != program;
}

ExitStatus wait_forwarding(pid_t program, std::function<void()> later,
                           std::chrono::milliseconds later_after) {
  const auto later_at = std::chrono::steady_clock::now() + later_after;
  bool stopped = false;
  bool stop_too = false;
  for (;;) {
    int status = 0;
    while (::waitpid(program, &status, WNOHANG | WUNTRACED | WCONTINUED) == program) {
      if (WIFEXITED(status))
        return {.code = WEXITSTATUS(status)};
      if (WIFSIGNALED(status))
        return {.signal = WTERMSIG(status)};
      stopped = WIFSTOPPED(status);
    }
    if (stopped && stop_too) {
      stop_too = false;
      ::kill(::getpid(), SIGSTOP);
    }
    siginfo_t info{};
    const int signal = later ? wait_for_signal_until(later_at, info) : wait_for_signal(info);
    if (signal < 0 && errno == EAGAIN)
      std::exchange(later, {})();
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
