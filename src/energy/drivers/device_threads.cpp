#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include <bench/energy/drivers/device_threads.hpp>

namespace bench::energy {

DeviceThreads::DeviceThreads(std::size_t devices, std::function<void(std::size_t)> read)
    : read_(std::move(read)) {
  for (std::size_t device = 1; device < devices; ++device)
    threads_.emplace_back([this, device] { work(device); });
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
    read_(device);
    lock.lock();
    if (--missing_ == 0)
      answered_.notify_one();
  }
}

}  // namespace bench::energy
