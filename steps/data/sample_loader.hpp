#pragma once

#include "data/fields.hpp"
#include "data/sample_maker.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace bench::steps {

/// Makes batches of samples on its own threads, ahead of the loop that uses them.
///
/// The caller requests batches, gives the memory for each, and takes them in the same order: it
/// decides how far ahead they are made. Threads share the samples of a batch, so that the oldest
/// batch is complete as early as possible.
class SampleLoader {
 public:
  /// Where a batch is made.
  struct BatchMemory {
    FieldMemory fields;       ///< Of all samples, one after the other.
    std::size_t samples = 0;  ///< At least one.
  };

  /// Work of all threads together so far.
  struct Work {
    std::uint64_t samples = 0;
    double seconds = 0;  ///< Sum over the threads; waiting for work does not count.
  };

  /// @param makers one for each thread, at least one
  explicit SampleLoader(SampleMakers makers);

  /// Waits for the sample that each thread is working on, not for whole batches.
  ~SampleLoader();

  /// Of each sample.
  const std::vector<Field>& fields() const { return makers_.front()->fields(); }
  std::optional<std::uint64_t> samples_per_epoch() const {
    return makers_.front()->samples_per_epoch();
  }

  /// Requests the samples `first`, `first + 1`, ... after all that were requested before. Returns
  /// at once.
  /// @param memory must live until the batch is taken, or as long as the loader
  /// @throws std::invalid_argument if it is not the size of the fields
  void request(std::uint64_t first, BatchMemory memory);

  /// Returns true if `take` would return at once, and not throw.
  bool is_ready() const;

  /// Waits until the oldest requested batch is complete; from then on it is the caller's.
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

    bool is_complete() const { return ended == memory.samples; }
    FieldMemory sample_memory(std::size_t index) const;
  };

  Batch* batch_with_work();
  void run(const std::stop_token& stop, SampleMaker& maker);

  SampleMakers makers_;
  mutable std::mutex mutex_;  ///< Of all below.
  std::condition_variable_any requested_;
  std::condition_variable completed_;
  std::deque<Batch> batches_;  ///< Not taken yet, oldest first.
  Work work_;
  std::vector<std::jthread> threads_;  ///< Last: they end before what they use.
};

}  // namespace bench::steps
