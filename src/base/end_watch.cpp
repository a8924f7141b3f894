#include <memory>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bench/base/end_watch.hpp>
#include <bench/base/unique_fd.hpp>

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

}  // namespace bench
