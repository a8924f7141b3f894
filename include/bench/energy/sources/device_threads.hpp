#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bench::energy {

/// Reads several devices at the same time, for drivers that take long to answer. The threads
/// sleep between two readings.
class DeviceThreads {
 public:
  /// @param read the device of this number; it must not touch anything of another one
  DeviceThreads(std::size_t devices, std::function<void(std::size_t)> read);
  DeviceThreads(const DeviceThreads&) = delete;
  DeviceThreads& operator=(const DeviceThreads&) = delete;
  ~DeviceThreads();

  /// Reads every device once, and returns when all have answered.
  void read_all();

 private:
  void work(std::size_t device);

  std::size_t devices_;
  std::function<void(std::size_t)> read_;
  std::mutex mutex_;  // guards all below
  std::condition_variable begun_;
  std::condition_variable answered_;
  std::size_t round_ = 0;
  std::size_t missing_ = 0;  ///< Devices that have not answered in this round.
  bool ends_ = false;
  /// One per device from the second on. The caller reads the devices without a thread.
  std::vector<std::thread> threads_;
};

}  // namespace bench::energy
