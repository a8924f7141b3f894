#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <signal.h>

#include <bench/energy/core/signals.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/file_thread.hpp>

namespace bench::energy {

FileThread::~FileThread() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable())
    thread_.join();
}

/// With the lock.
/// @returns false if this process may have no more threads
bool FileThread::start() {
  if (!thread_.joinable()) {
    const sigset_t before = block_signals();
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  changed_.notify_all();
  return true;
}

void FileThread::post(Work work) {
  std::unique_lock lock(mutex_);
  work_.push_back(std::move(work));
  if (start())
    return;
  const Work now = std::move(work_.back());
  work_.pop_back();
  lock.unlock();
  now();
}

void FileThread::post_later(Clock::time_point time, Work work) {
  const std::lock_guard lock(mutex_);
  later_.emplace(time, std::move(work));
  start();
}

void FileThread::drop_later() {
  const std::lock_guard lock(mutex_);
  later_.clear();
}

bool FileThread::wait_until(Clock::time_point time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, time, [&] { return work_.empty() && !busy_; });
}

void FileThread::run() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    while (!later_.empty() && Clock::now() >= later_.begin()->first) {
      work_.push_back(std::move(later_.begin()->second));
      later_.erase(later_.begin());
    }
    if (work_.empty()) {
      if (!later_.empty())
        changed_.wait_until(lock, Clock::time_point(later_.begin()->first));
      else
        changed_.wait(lock);
      continue;
    }
    const Work work = std::move(work_.front());
    work_.pop_front();
    busy_ = true;
    lock.unlock();
    try {
      work();
    } catch (const std::exception&) {  // out of memory: its file is missing
    }
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace bench::energy
