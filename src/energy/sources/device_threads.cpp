#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <bench/energy/sources/device_threads.hpp>

namespace bench::energy {

DeviceThreads::DeviceThreads(std::size_t devices, std::function<void(std::size_t)> read)
    : devices_(devices), read_(std::move(read)) {
  threads_.reserve(devices);
  try {
    for (std::size_t device = 1; device < devices; ++device)
      threads_.emplace_back([this, device] { work(device); });
  } catch (const std::system_error&) {  // a limit on threads: the caller reads the others
  }
}

DeviceThreads::~DeviceThreads() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

void DeviceThreads::read_all() {
  {
    const std::lock_guard lock(mutex_);
    ++round_;
    missing_ = threads_.size();
  }
  begun_.notify_all();
  read_(0);
  for (std::size_t device = threads_.size() + 1; device < devices_; ++device)
    read_(device);
  std::unique_lock lock(mutex_);
  answered_.wait(lock, [&] { return missing_ == 0; });
}

void DeviceThreads::work(std::size_t device) {
  std::size_t last = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    begun_.wait(lock, [&] { return ends_ || round_ != last; });
    if (ends_)
      return;
    last = round_;
    lock.unlock();
    try {
      read_(device);
    } catch (const std::exception&) {  // out of memory: it gives no reading
    }
    lock.lock();
    if (--missing_ == 0)
      answered_.notify_one();
  }
}

}  // namespace bench::energy
