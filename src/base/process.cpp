// Boost.Process leaves vfork out unless told that the system has it.
#define BOOST_POSIX_HAS_VFORK 1
extern char** environ;
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <ios>
#include <memory>
#include <optional>
#include <ratio>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <boost/process/child.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/posix.hpp>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/outage.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>

// The headers of Linux before 5.9 lack it. The number is the same on all architectures.
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
// The headers of Linux before 5.3 lack it. The number is the same on all architectures.
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace bench {
namespace {

/// Its own descriptor, since the thread outlives the EndWatch of a child that is released.
struct Waiting {
  int pid;
  UniqueFd ended;
};

void* wait_for_end(void* argument) {
  const std::unique_ptr<Waiting> waiting(static_cast<Waiting*>(argument));
  siginfo_t info;
  ::waitid(P_PID, static_cast<id_t>(waiting->pid), &info, WEXITED | WNOWAIT);
  ::eventfd_write(waiting->ended.get(), 1);
  return nullptr;
}

/// The thread handles no signal of this process.
std::optional<pthread_t> start_thread(std::unique_ptr<Waiting> waiting) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const int error = ::pthread_create(&thread, nullptr, wait_for_end, waiting.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0)
    return std::nullopt;
  waiting.release();  // NOLINT(bugprone-unused-return-value): the thread owns it
  return thread;
}

}  // namespace

EndWatch::EndWatch(int pid)
    : descriptor_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U))), pid_(pid) {
  if (descriptor_.valid())
    return;
  descriptor_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  UniqueFd ended(::fcntl(descriptor_.get(), F_DUPFD_CLOEXEC, 0));
  if (ended.valid())
    thread_ = start_thread(std::make_unique<Waiting>(Waiting{pid, std::move(ended)}));
  if (!thread_)
    descriptor_ = UniqueFd();
}

bool EndWatch::may_reap() {
  if (!thread_)
    return true;
  // Asks the kernel, not the thread, which may not have run since the child ended.
  siginfo_t info{};
  const bool runs =
      ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid != pid_;
  if (!runs)
    settle();
  return !runs;
}

void EndWatch::settle() {
  if (thread_)
    ::pthread_join(*thread_, nullptr);
  thread_.reset();
}

void EndWatch::release() {
  if (thread_)
    ::pthread_detach(*thread_);
  thread_.reset();
}

void EndWatch::swap(EndWatch& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(pid_, other.pid_);
  std::swap(thread_, other.thread_);
}

namespace {

namespace bp = boost::process;

constexpr unsigned close_range_cloexec = 4;

/// Of an entry of /proc/self/fd; -1 for `.` and `..`.
int descriptor_of(const char* name) {
  int number = *name >= '0' && *name <= '9' ? 0 : -1;
  for (; *name >= '0' && *name <= '9'; ++name)
    number = number * 10 + (*name - '0');
  return number;
}

/// By the system call itself, since opendir allocates. The layout is that of linux_dirent64,
/// getdents64(2): inode and offset, 8 bytes each, the entry's length, 2 bytes, its type, its name.
void mark_those_of(int directory) {
  constexpr std::size_t length_at = 16;
  constexpr std::size_t name_at = 19;
  alignas(8) std::array<char, 4096> entries;
  for (;;) {
    const long size = ::syscall(SYS_getdents64, directory, entries.data(), entries.size());
    if (size <= 0)
      return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      unsigned short length = 0;
      std::memcpy(&length, entries.data() + at + length_at, sizeof length);
      if (const int fd = descriptor_of(entries.data() + at + name_at); fd > STDERR_FILENO)
        ::fcntl(fd, F_SETFD, FD_CLOEXEC);
      at += length;
    }
  }
}

/// Marks every descriptor above standard error to be closed at exec, those too that a library
/// opened without O_CLOEXEC. Async-signal-safe, for use between vfork and exec.
void close_inherited_descriptors_at_exec() {
  // Linux before 5.11 does not have it, a container may forbid it.
  if (::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, close_range_cloexec) == 0)
    return;
  const int directory = ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return;
  mark_those_of(directory);
  ::close(directory);
}

/// Blocks every signal for its lifetime. Between vfork and exec the child runs on this process's
/// memory, where a signal handler must not run.
class SignalBlock {
 public:
  SignalBlock() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before_);
  }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;
  ~SignalBlock() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// Prepares the child between vfork and exec: async-signal-safe calls only.
struct ChildSetup : bp::extend::handler {
  const char* program;
  char* const* arguments;
  char** environment;
  const char* directory;  // null: stay
  std::array<int, 3> descriptors;

  template <class Executor>
  void on_setup(Executor& executor) const {
    executor.exe = program;
    executor.cmd_line = arguments;
    executor.env = environment;
  }

  template <class Executor>
  void on_exec_setup(Executor& executor) const {
    const auto check = [&](bool ok, const char* what) {
      if (ok)
        return;
      executor.set_error(std::error_code(errno, std::system_category()), what);
      _exit(127);
    };
    // Without the terminal: what asks it for a password fails, and is not stopped for ever.
    check(::setsid() >= 0, "setsid");
    for (int k = 0; k < 3; ++k)
      if (const int fd = descriptors[static_cast<std::size_t>(k)]; fd >= 0)
        check(::dup2(fd, k) == k, "dup2");
    if (directory)
      check(::chdir(directory) == 0, directory);
    close_inherited_descriptors_at_exec();
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    ::sigaction(SIGPIPE, &action, nullptr);
    ::sigaction(SIGXFSZ, &action, nullptr);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
  }
};

int null_device() {
  static const UniqueFd fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
  return fd.get();
}

ExitStatus decode(int status) {
  ExitStatus result;
  if (WIFSIGNALED(status))
    result.signal = WTERMSIG(status);
  else
    result.code = WEXITSTATUS(status);
  return result;
}

/// Moves what can be moved without blocking. Returns false once the peer has closed.
bool read_some(int fd, std::string& into) {
  std::array<char, 65536> buffer;
  const auto count = ::read(fd, buffer.data(), buffer.size());
  if (count > 0)
    into.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

bool write_some(int fd, std::string_view& from) {
  const auto count = ::write(fd, from.data(), from.size());
  if (count > 0)
    from.remove_prefix(static_cast<std::size_t>(count));
  return !from.empty() && (count > 0 || errno == EINTR || errno == EAGAIN);
}

/// Kills the group of a process. What the kernel does not let go, since it waits for a file system
/// or a driver that does not answer, is left to itself: nobody knows when that ends.
void kill_or_leave(Process& process) {
  process.signal_group(SIGKILL);
  for (int round = 0; round < 100; ++round) {
    if (process.poll())
      return;
    ::poll(nullptr, 0, 10);
  }
  process.release();
}

/// Our ends of a child's three pipes, fed and drained until the child has closed its own.
void exchange(Process& process, PipeEnds& in, PipeEnds& out, PipeEnds& err, std::string_view input,
              double timeout_s, CommandOutput& result) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(timeout_s);
  ::fcntl(in.write.get(), F_SETFL, O_NONBLOCK);
  if (input.empty())
    in.write = UniqueFd();
  while (out.read.valid() || err.read.valid()) {
    const auto left = std::chrono::duration<double, std::milli>(deadline - Clock::now()).count();
    if (left <= 0) {
      kill_or_leave(process);
      throw Error(Id::program_failed, fmt::format("no answer within {} s", timeout_s));
    }
    std::array<pollfd, 3> waits{
        {{in.write.get(), POLLOUT, 0}, {out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}}};
    ::poll(waits.data(), waits.size(), static_cast<int>(std::min(left + 1, 3600e3)));
    if (waits[0].revents && !write_some(in.write.get(), input))
      in.write = UniqueFd();
    if (waits[1].revents && !read_some(out.read.get(), result.standard_output))
      out.read = UniqueFd();
    if (waits[2].revents && !read_some(err.read.get(), result.standard_error))
      err.read = UniqueFd();
  }
}

/// The system ends a text at its first zero byte: what follows would be lost without a word.
void refuse_zero_byte(const std::string& text, const ProcessSpec& spec, const std::string& what) {
  if (text.find('\0') != std::string::npos)
    throw Error(Id::invalid_value,
                fmt::format("cannot start '{}': {} has a zero byte", spec.arguments[0], what));
}

}  // namespace

PipeEnds make_pipe() {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0)
    throw Error::of_system("cannot make a pipe", errno);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

Environment current_environment() {
  Environment variables;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos)
      variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

void set_variable(Environment& environment, const std::string& name, const std::string& value) {
  for (auto& [key, old] : environment)
    if (key == name) {
      old = value;
      return;
    }
  environment.emplace_back(name, value);
}

std::string ExitStatus::description() const {
  if (signal != 0)
    return fmt::format("signal {} ({})", signal, strsignal(signal));
  return fmt::format("exit code {}", code);
}

Process::Process(const ProcessSpec& spec) {
  const std::string program = find_program(spec.arguments.at(0));
  if (program.empty())
    throw Error(Id::missing_program,
                fmt::format("cannot start '{}': not found on PATH", spec.arguments[0]));
  std::vector<char*> arguments;
  for (const std::string& argument : spec.arguments) {
    refuse_zero_byte(argument, spec, "an argument");
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);

  std::string entries;  // NAME=VALUE, each with a zero at its end
  std::vector<std::size_t> begins;
  std::vector<char*> environment;
  if (spec.environment) {
    for (const auto& [name, value] : *spec.environment) {
      refuse_zero_byte(value, spec, "the variable " + name);
      begins.push_back(entries.size());
      entries.append(name).append("=").append(value).push_back('\0');
    }
    for (const std::size_t begin : begins)
      environment.push_back(entries.data() + begin);
    environment.push_back(nullptr);
  }

  ChildSetup setup;
  setup.program = program.c_str();
  setup.arguments = arguments.data();
  setup.environment = spec.environment ? environment.data() : environ;
  setup.directory = spec.directory.empty() ? nullptr : spec.directory.c_str();
  setup.descriptors = {spec.stdin_fd >= 0 ? spec.stdin_fd : null_device(), spec.stdout_fd,
                       spec.stderr_fd};
  try {
    const SignalBlock block;
#ifdef __SANITIZE_THREAD__
    // ThreadSanitizer makes a fork of a vfork, and what goes wrong in the child would be lost.
    bp::child child(setup);
#else
    bp::child child(setup, bp::posix::use_vfork);
#endif
    pid_ = child.id();
    child.detach();
    // Where vfork is fork, as in an emulator, the child may not have come to it yet.
    constexpr int most_ms = 10'000;
    for (int k = 0; k < most_ms && ::getsid(pid_) != pid_; ++k)
      ::poll(nullptr, 0, 1);
  } catch (const bp::process_error& failure) {
    const std::string text =
        fmt::format("cannot start '{}': {}", spec.arguments[0], failure.what());
    if (Error::of_system(text, failure.code().value()).may_pass())
      throw MachineError(Id::system_error, text);
    throw Error(Id::program_failed, text);
  }
  watch_ = EndWatch(pid_);
}

Process::Process(Process&& other) noexcept {
  *this = std::move(other);
}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(watch_, other.watch_);
  std::swap(status_, other.status_);
  return *this;
}

Process::~Process() {
  if (pid_ < 0 || status_)
    return;
  signal_group(SIGKILL);
  wait();
}

ExitStatus Process::wait() {
  watch_.settle();
  int status = 0;
  while (!status_)
    if (::waitpid(pid_, &status, 0) == pid_)
      status_ = decode(status);
    else if (errno != EINTR)
      status_ = ExitStatus{.code = 127};  // reaped by somebody else; cannot happen in bench
  return *status_;
}

std::optional<ExitStatus> Process::poll() {
  int status = 0;
  if (!status_ && watch_.may_reap() && ::waitpid(pid_, &status, WNOHANG) == pid_)
    status_ = decode(status);
  return status_;
}

void Process::release() {
  watch_.release();
  pid_ = -1;
}

void Process::signal_group(int signal) {
  ::kill(-pid_, signal);
}

CommandOutput run_command(ProcessSpec spec, double timeout_s, const std::string& input) {
  PipeEnds in = make_pipe();
  PipeEnds out = make_pipe();
  PipeEnds err = make_pipe();
  spec.stdin_fd = in.read.get();
  spec.stdout_fd = out.write.get();
  spec.stderr_fd = err.write.get();
  CommandOutput result;
  Process process(spec);
  in.read = UniqueFd();
  out.write = UniqueFd();
  err.write = UniqueFd();
  exchange(process, in, out, err, input, timeout_s, result);
  result.status = process.wait();
  return result;
}

namespace {

/// A file of a process, or nothing: a process may go while it is looked at, or be another user's.
struct ProcessFile {
  bool readable = false;
  std::string text;
};

ProcessFile read_process_file(int pid, const char* name) {
  std::ifstream stream(fmt::format("/proc/{}/{}", pid, name), std::ios::binary);
  if (!stream)
    return {};
  // Unlike an iterator over the buffer, `<<` catches the error of reading from a process that has
  // gone since its file was opened.
  std::ostringstream text;
  text << stream.rdbuf();
  return {true, std::move(text).str()};
}

/// The numbered fields of /proc/PID/stat from the third on, which is the first of the result.
std::vector<std::string> fields_from_third(int pid) {
  const std::string stat = read_process_file(pid, "stat").text;
  // The state follows the command name, which is in parentheses and may hold any character.
  const auto end = stat.rfind(')');
  return end == std::string::npos ? std::vector<std::string>{}
                                  : split_names(stat.substr(end + 1), " ");
}

/// Whether the kernel has given the process the memory of its new program, but no environment yet.
/// Kernel threads have no memory, and a program that was given no variables has bounds all the
/// same.
bool is_beginning(int pid) {
  const auto fields = fields_from_third(pid);
  constexpr std::size_t virtual_size = 23 - 3;
  constexpr std::size_t end_of_environment = 51 - 3;
  return fields.size() > end_of_environment && fields[0] != "Z" && fields[virtual_size] != "0" &&
         fields[end_of_environment] == "0";
}

std::string environment_of(int pid) {
  for (int round = 0; round < 10000; ++round) {
    ProcessFile environment = read_process_file(pid, "environ");
    if (!environment.readable || !environment.text.empty())
      return std::move(environment.text);
    if (!is_beginning(pid))
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return read_process_file(pid, "environ").text;  // it may have been beginning when it was empty
}

}  // namespace

bool is_alive(int pid) {
  const auto fields = fields_from_third(pid);
  return !fields.empty() && fields[0] != "Z";
}

std::string variable_of(int pid, const std::string& name) {
  const std::string marker = name + "=";
  for (const std::string& entry : split(environment_of(pid), std::string_view("\0", 1)))
    if (entry.starts_with(marker))
      return entry.substr(marker.size());
  return "";
}

}  // namespace bench
