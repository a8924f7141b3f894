#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include <bench/energy/core/ticks.hpp>

namespace bench::energy {

/// Uses the file system in its own thread, so that one that hangs holds up neither signals nor
/// the start or the end of the program. Work is done in the order in which it comes; by the caller
/// if this process may have no more threads.
class FileThread {
 public:
  using Work = std::function<void()>;

  FileThread() = default;
  FileThread(const FileThread&) = delete;
  FileThread& operator=(const FileThread&) = delete;
  /// Waits for the work that has begun.
  ~FileThread();

  /// Starts the thread at the first call.
  void post(Work work);
  /// Posts the work at that time, unless `drop_later` comes before.
  void post_later(Clock::time_point time, Work work);
  void drop_later();
  /// Waits until all that was posted is done.
  /// @returns false if it is not by then
  bool wait_until(Clock::time_point time);

 private:
  bool start();
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> work_;
  std::multimap<Clock::time_point, Work> later_;
  bool busy_ = false;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace bench::energy
