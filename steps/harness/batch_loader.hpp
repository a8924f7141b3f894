#pragma once

#include "data/sample_loader.hpp"
#include "data/sample_maker.hpp"
#include "harness/batch.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace bench::steps {

/// The samples of one rank. In each step, every rank has `micro_batches` batches of `batch_size`
/// samples; those of rank 0 come first, then those of rank 1, and so on.
struct BatchShare {
  std::int64_t batch_size = 1;
  std::int64_t micro_batches = 1;
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  std::uint64_t first_sample = 0;  ///< Of the first step, over all ranks.

  /// Samples of this rank in a step.
  std::int64_t own_batch() const { return micro_batches * batch_size; }
  std::int64_t global_batch() const { return ranks * own_batch(); }

  /// The number of the first sample in a batch of this rank.
  /// @param batch from 0, over all steps
  std::uint64_t sample_of(std::int64_t batch) const;
};

/// Makes the batches of a rank in the memory of the host, some batches ahead, on the loader's
/// threads.
class BatchLoader {
 public:
  struct Options {
    BatchShare share;
    std::int64_t prefetch = 2;  ///< Batches that are made ahead, at least 1.
    /// Fields whose samples lie as (H, W, C): their tensors are (B, C, H, W) in channels-last
    /// memory. Other numbers of dimensions alike: C becomes the first of them.
    std::vector<std::string> hwc_fields;
    bool pinned = false;  ///< A GPU copies from pinned memory without the host's help.
  };

  /// @param makers one for each thread, at least one
  /// @throws std::invalid_argument if one of `hwc_fields` does not exist, or has no channels
  BatchLoader(SampleMakers makers, Options options);

  /// Waits for the next batch, which is the caller's.
  /// @throws what a maker threw at one of its samples
  Batch next();

  /// Returns true if `next` would return without waiting.
  bool is_ready() const { return loader_.is_ready(); }

  /// An uninitialised batch in the form of all others.
  Batch empty_batch() const;

  const SampleLoader& loader() const { return loader_; }

 private:
  void request();

  Options options_;
  std::int64_t requested_ = 0;  ///< Batches so far.
  std::deque<Batch> waiting_;   ///< Requested and not taken.
  SampleLoader loader_;  ///< Last: its threads end before the memory that they write to goes.
};

}  // namespace bench::steps
