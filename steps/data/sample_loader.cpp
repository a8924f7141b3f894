#include "data/sample_loader.hpp"

#include "data/fields.hpp"
#include "data/random.hpp"
#include "harness/errors.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {

EpochOrder::EpochOrder(std::uint64_t items, std::optional<std::uint64_t> seed)
    : items_(items), seed_(seed) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (items == 0 || items > most)
    throw UsageError(fmt::format("cannot draw an order of {} samples", items),
                     fmt::format("use a data set of 1 to {} samples", most));
}

std::uint64_t EpochOrder::item(std::uint64_t sample) {
  const std::uint64_t place = sample % items_;
  if (!seed_)
    return place;
  const std::uint64_t number = sample / items_;
  const std::lock_guard lock(mutex_);
  Epoch& epoch = epochs_[number % epochs_.size()];
  if (epoch.number != number) {
    // The complement, so that no epoch shares its random numbers with a sample.
    epoch.items = permutation(static_cast<std::uint32_t>(items_), stream(*seed_, ~number));
    epoch.number = number;
  }
  return epoch.items[place];
}

namespace {

class FunctionMaker : public SampleMaker {
 public:
  FunctionMaker(const std::vector<Field>& fields, std::optional<std::uint64_t> samples_per_epoch,
                FillSample function)
      : fields_(fields), samples_per_epoch_(samples_per_epoch), function_(std::move(function)) {}

  const std::vector<Field>& fields() const override { return fields_; }
  std::optional<std::uint64_t> samples_per_epoch() const override { return samples_per_epoch_; }
  void make(std::uint64_t sample, const FieldMemory& memory) override { function_(sample, memory); }

 private:
  std::vector<Field> fields_;
  std::optional<std::uint64_t> samples_per_epoch_;
  FillSample function_;
};

}  // namespace

SampleMakers sample_makers(const std::vector<Field>& fields, int threads,
                           const std::function<FillSample()>& make_function,
                           std::optional<std::uint64_t> samples_per_epoch) {
  SampleMakers makers;
  for (int i = 0; i < threads; ++i)
    makers.push_back(std::make_unique<FunctionMaker>(fields, samples_per_epoch, make_function()));
  return makers;
}

namespace {

void check_memory(const SampleLoader::BatchMemory& memory, const std::vector<Field>& fields) {
  if (memory.samples == 0)
    throw std::invalid_argument("a batch without samples");
  if (memory.fields.size() != fields.size())
    throw std::invalid_argument(fmt::format("a batch with memory for {} fields instead of {}",
                                            memory.fields.size(), fields.size()));
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (memory.fields[i].size() != memory.samples * fields[i].bytes())
      throw std::invalid_argument(
          fmt::format("a batch with {} bytes for field '{}' instead of {} x {}",
                      memory.fields[i].size(), fields[i].name, memory.samples, fields[i].bytes()));
}

}  // namespace

SampleLoader::SampleLoader(SampleMakers makers) : makers_(std::move(makers)) {
  if (makers_.empty())
    throw std::invalid_argument("a loader without threads");
  for (const std::unique_ptr<SampleMaker>& maker : makers_)
    threads_.emplace_back([this, &maker](const std::stop_token& stop) { run(stop, *maker); });
}

SampleLoader::~SampleLoader() {
  for (std::jthread& thread : threads_)
    thread.request_stop();  // all of them, before the first is waited for
}

void SampleLoader::request(std::uint64_t first, BatchMemory memory) {
  check_memory(memory, fields());
  const std::lock_guard lock(mutex_);
  batches_.push_back({.first = first, .memory = std::move(memory)});
  requested_.notify_all();
}

bool SampleLoader::is_ready() const {
  const std::lock_guard lock(mutex_);
  return !batches_.empty() && batches_.front().is_complete() && !batches_.front().failure;
}

void SampleLoader::take() {
  std::unique_lock lock(mutex_);
  if (batches_.empty())
    throw std::logic_error("a batch that nobody requested");
  completed_.wait(lock, [&] { return batches_.front().is_complete(); });
  const std::exception_ptr failure = batches_.front().failure;
  batches_.pop_front();
  if (failure)
    std::rethrow_exception(failure);
}

SampleLoader::Work SampleLoader::work() const {
  const std::lock_guard lock(mutex_);
  return work_;
}

FieldMemory SampleLoader::Batch::sample_memory(std::size_t index) const {
  FieldMemory result;
  for (const std::span<std::byte>& field : memory.fields) {
    const std::size_t bytes = field.size() / memory.samples;
    result.push_back(field.subspan(index * bytes, bytes));
  }
  return result;
}

SampleLoader::Batch* SampleLoader::batch_with_work() {
  const auto found = std::ranges::find_if(
      batches_, [](const Batch& batch) { return batch.begun < batch.memory.samples; });
  return found == batches_.end() ? nullptr : &*found;
}

void SampleLoader::run(const std::stop_token& stop, SampleMaker& maker) {
  using Clock = std::chrono::steady_clock;
  for (std::unique_lock lock(mutex_);;) {
    requested_.wait(lock, stop, [&] { return batch_with_work() != nullptr; });
    if (stop.stop_requested())
      return;
    Batch& batch = *batch_with_work();  // stays where it is until all its samples have ended
    const std::size_t index = batch.begun++;
    lock.unlock();
    const Clock::time_point begin = Clock::now();
    std::exception_ptr failure;
    try {
      maker.make(batch.first + index, batch.sample_memory(index));
    } catch (...) {  // nothing may leave a thread; `take` rethrows it
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
    ++batch.ended;
    if (batch.is_complete())
      completed_.notify_one();
  }
}

}  // namespace bench::steps
