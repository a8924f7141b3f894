#pragma once

#include "data/random.hpp"

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
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

}  // namespace bench::steps
