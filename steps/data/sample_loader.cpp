#include "data/sample_loader.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace bench::steps {

SampleLoader::SampleLoader(std::vector<std::unique_ptr<SampleMaker>> makers)
    : makers_(std::move(makers)) {
  if (makers_.empty())
    throw std::invalid_argument("a loader without threads");
  for (const std::unique_ptr<SampleMaker>& maker : makers_)
    threads_.emplace_back([this, &maker](const std::stop_token& stop) { run(stop, *maker); });
}

SampleLoader::~SampleLoader() {
  for (std::jthread& thread : threads_)
    thread.request_stop();  // all of them, before the first is waited for
}

void SampleLoader::ask(std::uint64_t first, const BatchMemory& memory) {
  const std::lock_guard lock(mutex_);
  batches_.push_back({.first = first, .memory = memory});
  asked_.notify_all();
}

void SampleLoader::take() {
  std::unique_lock lock(mutex_);
  if (batches_.empty())
    throw std::logic_error("a batch that nobody asked for");
  completed_.wait(lock, [&] { return batches_.front().ended == batches_.front().size(); });
  const std::exception_ptr failure = batches_.front().failure;
  batches_.pop_front();
  if (failure)
    std::rethrow_exception(failure);
}

SampleLoader::Work SampleLoader::work() const {
  const std::lock_guard lock(mutex_);
  return work_;
}

SampleLoader::Batch* SampleLoader::batch_with_work() {
  const auto found =
      std::ranges::find_if(batches_, [](const Batch& batch) { return batch.begun < batch.size(); });
  return found == batches_.end() ? nullptr : &*found;
}

void SampleLoader::run(const std::stop_token& stop, SampleMaker& maker) {
  using Clock = std::chrono::steady_clock;
  for (std::unique_lock lock(mutex_);;) {
    asked_.wait(lock, stop, [&] { return batch_with_work() != nullptr; });
    if (stop.stop_requested())
      return;
    Batch& batch = *batch_with_work();  // stays where it is until all its samples have ended
    const std::size_t index = batch.begun++;
    const std::size_t width = batch.memory.values.size() / batch.size();
    lock.unlock();
    const Clock::time_point begin = Clock::now();
    std::exception_ptr failure;
    try {
      batch.memory.labels[index] =
          maker.make(batch.first + index, batch.memory.values.subspan(index * width, width));
    } catch (...) {  // nothing may leave a thread; `take` throws it on
      failure = std::current_exception();
    }
    const std::chrono::duration<double> duration = Clock::now() - begin;
    lock.lock();
    work_.samples += 1;
    work_.seconds += duration.count();
    if (failure && (!batch.failure || index < batch.failed)) {
      batch.failed = index;
      batch.failure = failure;
    }
    if (++batch.ended == batch.size())
      completed_.notify_one();
  }
}

}  // namespace bench::steps
