#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

namespace bench::steps {

/// Makes labelled samples, on one thread; each thread has its own.
class SampleMaker {
 public:
  SampleMaker() = default;
  SampleMaker(const SampleMaker&) = delete;
  SampleMaker& operator=(const SampleMaker&) = delete;
  virtual ~SampleMaker() = default;

  /// @param sample its number; what it holds follows from that alone, not from what was made before
  /// @param values is overwritten, all of it
  /// @returns its label
  virtual std::int64_t make(std::uint64_t sample, std::span<float> values) = 0;
};

/// Makes batches of samples ahead of the loop that uses them, on its own threads.
///
/// The caller asks for batches, gives the memory for each, and takes them in the same order: it
/// decides how far ahead they are made. Threads share the samples of a batch, so that the oldest
/// batch is complete as early as can be.
class SampleLoader {
 public:
  struct BatchMemory {
    std::span<float> values;         ///< Of all samples, one after the other.
    std::span<std::int64_t> labels;  ///< One for each sample; at least one.
  };

  /// What all threads have done together so far.
  struct Work {
    std::uint64_t samples = 0;
    double seconds = 0;  ///< Sum over the threads; waiting for work does not count.
  };

  /// @param makers one for each thread, at least one
  explicit SampleLoader(std::vector<std::unique_ptr<SampleMaker>> makers);

  /// Does not wait for batches that nobody took, only for the sample that each thread is at.
  ~SampleLoader();

  /// Asks for the samples `first`, `first + 1`, ... behind all that were asked for before. Returns
  /// at once.
  /// @param memory must live until it is taken, or as long as the loader
  void ask(std::uint64_t first, const BatchMemory& memory);

  /// Waits until the oldest batch that was asked for is complete; from then on it is the caller's.
  /// @throws what a maker threw at one of its samples; of several the first, so that the message
  ///         does not depend on the threads
  /// @throws std::logic_error if there is none
  void take();

  Work work() const;

 private:
  struct Batch {
    std::uint64_t first;
    BatchMemory memory;
    std::size_t begun = 0;
    std::size_t ended = 0;
    std::size_t failed = 0;  ///< Of the samples that failed, the first.
    std::exception_ptr failure;

    std::size_t size() const { return memory.labels.size(); }
  };

  Batch* batch_with_work();
  void run(const std::stop_token& stop, SampleMaker& maker);

  std::vector<std::unique_ptr<SampleMaker>> makers_;
  mutable std::mutex mutex_;  ///< Of all below.
  std::condition_variable_any asked_;
  std::condition_variable completed_;
  std::deque<Batch> batches_;  ///< Not taken yet, oldest first.
  Work work_;
  std::vector<std::jthread> threads_;  ///< Last: they end before what they use.
};

}  // namespace bench::steps
