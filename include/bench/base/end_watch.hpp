#pragma once

#include <optional>

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

}  // namespace bench
