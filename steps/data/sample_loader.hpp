#pragma once

#include "data/fields.hpp"
#include "data/random.hpp"

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace bench::steps {

/// Which of n items each sample is. Samples are numbered from 0 without end; n of them, from a
/// multiple of n on, are an epoch and hold each item once.
///
/// Only the seed decides: whoever shares the numbers out, to batches, ranks or threads, loses no
/// item and doubles none.
class EpochOrder {
 public:
  /// @param items 1 to 2^32 - 1
  /// @param seed of the order, another one in each epoch; without, items come as they are counted
  /// @throws UsageError if there are none or too many
  EpochOrder(std::uint64_t items, std::optional<std::uint64_t> seed);

  std::uint64_t items() const { return items_; }

  /// May be called by several threads.
  std::uint64_t item(std::uint64_t sample);

  /// A stream of random numbers for one sample alone.
  static Random stream(std::uint64_t seed, std::uint64_t sample) {
    return Random(seed ^ mixed(sample));
  }

 private:
  struct Epoch {
    std::optional<std::uint64_t> number;
    std::vector<std::uint32_t> items;
  };

  std::uint64_t items_;
  std::optional<std::uint64_t> seed_;
  std::mutex mutex_;
  std::array<Epoch, 2> epochs_;  ///< Where one ends, some threads are in it and some in the next.
};

/// Makes samples, numbered from 0 without end, on one thread; each thread has its own.
class SampleMaker {
 public:
  SampleMaker() = default;
  SampleMaker(const SampleMaker&) = delete;
  SampleMaker& operator=(const SampleMaker&) = delete;
  virtual ~SampleMaker() = default;

  /// Of each sample.
  virtual const std::vector<Field>& fields() const = 0;

  /// Samples after which the data begins again; empty where it never does.
  virtual std::optional<std::uint64_t> samples_per_epoch() const { return std::nullopt; }

  /// @param sample its number; the content depends on that alone, not on what was made before
  /// @param memory a span for each field, which is overwritten
  virtual void make(std::uint64_t sample, const FieldMemory& memory) = 0;
};

/// One for each thread, all of the same samples.
using SampleMakers = std::vector<std::unique_ptr<SampleMaker>>;

/// Makers of which each calls a function.
/// @param make_function called once for each maker: a function may keep what one thread alone uses
SampleMakers sample_makers(const std::vector<Field>& fields, int threads,
                           const std::function<FillSample()>& make_function,
                           std::optional<std::uint64_t> samples_per_epoch = {});

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
