#pragma once

#include "data/field_source.hpp"
#include "data/sample_maker.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace bench::steps {

/// The part of a data set that one rank keeps to in all epochs, so that a cache of it need not be
/// larger: every `ranks`-th sample from `rank` on. By default it is all.
struct SampleShard {
  std::uint64_t rank = 0;
  std::uint64_t ranks = 1;
  /// Consecutive samples of a rank in a step. Samples are counted over all ranks: in each step,
  /// those of rank 0 come first.
  std::uint64_t batch = 1;
};

/// Samples of a data set, epoch after epoch.
/// @param seed draws an order for each epoch, to train on; without it samples come in the order of
///        the data set, to evaluate on
/// @param threads that read, at least 1
/// @param shard whose samples the makers will be asked for
/// @throws UsageError if the data set or the shard is empty, or has 2^32 samples or more
SampleMakers field_makers(const std::shared_ptr<const FieldSource>& source,
                          std::optional<std::uint64_t> seed, int threads,
                          const SampleShard& shard = {});

}  // namespace bench::steps
