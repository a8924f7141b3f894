#pragma once

#include "data/fields.hpp"
#include "data/random.hpp"
#include "data/sample_loader.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

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

/// A data set whose samples stay in memory once they are read: later epochs read no files.
///
/// Several threads may read. Nothing is ever dropped: in epochs that visit each sample once, that
/// serves more reads than keeping the newest.
class SampleCache : public FieldSource {
 public:
  /// @param most samples to keep; the others are read each time. Default: all
  explicit SampleCache(std::shared_ptr<const FieldSource> source,
                       std::optional<std::uint64_t> most = {});

  const std::vector<Field>& fields() const override { return source_->fields(); }
  std::uint64_t samples() const override { return source_->samples(); }
  std::optional<std::uint64_t> bytes() const override { return source_->bytes(); }
  std::unique_ptr<Reader> reader() const override;

  std::uint64_t cached_samples() const;
  std::uint64_t cached_bytes() const;  ///< Of the fields of these samples.

 private:
  class CachingReader;

  /// A sample, its fields one after the other.
  using Bytes = std::unique_ptr<const std::byte[]>;

  const std::byte* find(std::uint64_t sample) const;
  bool is_full() const;
  void keep(std::uint64_t sample, Bytes bytes) const;

  std::shared_ptr<const FieldSource> source_;
  std::uint64_t most_;
  mutable std::mutex mutex_;         ///< Of all below; what a kept sample holds never changes.
  mutable std::vector<Bytes> kept_;  ///< By sample; empty where it was not read.
  mutable std::uint64_t kept_samples_ = 0;
};

/// Fills one sample from random numbers: the same numbers give the same sample. Called by several
/// threads.
///
///     [](Random random, const FieldMemory& sample) {
///       for (float& x : floats(sample[0]))  // the first field
///         x = static_cast<float>(random.uniform());
///     }
using GenerateSample = std::function<void(Random random, const FieldMemory& memory)>;

/// The same for any seed and number of threads.
std::function<SampleMakers(std::uint64_t seed, int threads)> generated_samples(
    std::vector<Field> fields, GenerateSample generate);

/// Distribution of random float32 numbers.
enum class Distribution {
  uniform,  ///< 0 <= number < 1, in steps of 2^-24.
  normal,   ///< N(0, 1), as one of 4096 equally likely values.
};

/// A field of random numbers.
struct SyntheticField {
  Field field;
  Distribution distribution = Distribution::uniform;  ///< Of float32.
  std::uint32_t bound = 1;                            ///< Of int64: uniform in 0 <= number < bound.
};

/// Samples that depend on the seed and their number alone.
/// @throws std::invalid_argument if a bound is 0
SampleMakers synthetic_field_makers(const std::vector<SyntheticField>& fields, std::uint64_t seed,
                                    int threads);

}  // namespace bench::steps
