#include "data/hdf5_lock.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#ifdef BENCH_STEPS_HDF5
#include <hdf5.h>
#endif

namespace bench::steps {
namespace {

/// A recursive lock for which threads queue.
class Queue {
 public:
  void enter() {
    std::unique_lock lock(mutex_);
    if (owner_ != std::this_thread::get_id()) {
      const std::uint64_t ticket = next_++;
      turn_.wait(lock, [&] { return ticket == served_; });
      owner_ = std::this_thread::get_id();
    }
    ++depth_;
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    if (--depth_ > 0)
      return;
    owner_ = std::thread::id();
    ++served_;
    turn_.notify_all();
  }

 private:
  std::mutex mutex_;  ///< Of all below.
  std::condition_variable turn_;
  std::uint64_t next_ = 0;
  std::uint64_t served_ = 0;  ///< The ticket whose turn it is.
  std::thread::id owner_;
  int depth_ = 0;
};

Queue callers;

}  // namespace

Hdf5Lock::Hdf5Lock() {
  callers.enter();
#ifdef BENCH_STEPS_HDF5
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // of this thread, if HDF5 knows threads
#endif
}

Hdf5Lock::~Hdf5Lock() {
  callers.leave();
}

}  // namespace bench::steps
