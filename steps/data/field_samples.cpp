#include "data/field_samples.hpp"

#include "data/fields.hpp"
#include "data/sample_loader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace bench::steps {
namespace {

/// Samples of a data set of `all` that belong to the shard.
std::uint64_t samples_in(const SampleShard& shard, std::uint64_t all) {
  return all / shard.ranks + (shard.rank < all % shard.ranks ? 1 : 0);
}

class FieldMaker : public SampleMaker {
 public:
  FieldMaker(std::shared_ptr<const FieldSource> source, std::shared_ptr<EpochOrder> order,
             const SampleShard& shard)
      : source_(std::move(source)),
        reader_(source_->reader()),
        order_(std::move(order)),
        shard_(shard) {}

  const std::vector<Field>& fields() const override { return source_->fields(); }
  std::optional<std::uint64_t> samples_per_epoch() const override { return source_->samples(); }

  void make(std::uint64_t sample, const FieldMemory& memory) override {
    const std::uint64_t step = sample / (shard_.ranks * shard_.batch);
    const std::uint64_t own = step * shard_.batch + sample % shard_.batch;
    reader_->read(order_->item(own) * shard_.ranks + shard_.rank, memory);
  }

 private:
  std::shared_ptr<const FieldSource> source_;
  std::unique_ptr<FieldSource::Reader> reader_;
  std::shared_ptr<EpochOrder> order_;  ///< Of all threads, and the samples of this shard.
  SampleShard shard_;
};

}  // namespace

SampleMakers field_makers(const std::shared_ptr<const FieldSource>& source,
                          std::optional<std::uint64_t> seed, int threads,
                          const SampleShard& shard) {
  const auto order = std::make_shared<EpochOrder>(samples_in(shard, source->samples()), seed);
  SampleMakers makers;
  for (int i = 0; i < threads; ++i)
    makers.push_back(std::make_unique<FieldMaker>(source, order, shard));
  return makers;
}

namespace {

std::unique_ptr<const std::byte[]> joined(const FieldMemory& memory, std::size_t bytes) {
  auto result = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::byte* end = result.get();
  for (const std::span<std::byte>& field : memory)
    end = std::ranges::copy(field, end).out;
  return result;
}

void split(const std::byte* bytes, const FieldMemory& memory) {
  for (const std::span<std::byte>& field : memory) {
    std::memcpy(field.data(), bytes, field.size());
    bytes += field.size();
  }
}

}  // namespace

class SampleCache::CachingReader : public FieldSource::Reader {
 public:
  explicit CachingReader(const SampleCache& cache)
      : cache_(cache), reader_(cache.source_->reader()) {}

  void read(std::uint64_t sample, const FieldMemory& memory) override {
    if (const std::byte* const kept = cache_.find(sample))
      return split(kept, memory);
    reader_->read(sample, memory);
    if (!cache_.is_full())
      cache_.keep(sample, joined(memory, sample_bytes(cache_.fields())));
  }

 private:
  const SampleCache& cache_;
  std::unique_ptr<FieldSource::Reader> reader_;
};

SampleCache::SampleCache(std::shared_ptr<const FieldSource> source,
                         std::optional<std::uint64_t> most)
    : source_(std::move(source)),
      most_(most.value_or(source_->samples())),
      kept_(source_->samples()) {}

std::unique_ptr<FieldSource::Reader> SampleCache::reader() const {
  return std::make_unique<CachingReader>(*this);
}

std::uint64_t SampleCache::cached_samples() const {
  const std::lock_guard lock(mutex_);
  return kept_samples_;
}

std::uint64_t SampleCache::cached_bytes() const {
  return cached_samples() * sample_bytes(fields());
}

const std::byte* SampleCache::find(std::uint64_t sample) const {
  const std::lock_guard lock(mutex_);
  return sample < kept_.size() ? kept_[sample].get() : nullptr;
}

bool SampleCache::is_full() const {
  const std::lock_guard lock(mutex_);
  return kept_samples_ >= most_;
}

void SampleCache::keep(std::uint64_t sample, Bytes bytes) const {
  const std::lock_guard lock(mutex_);
  if (kept_samples_ >= most_ || kept_[sample])
    return;  // another thread was faster
  kept_[sample] = std::move(bytes);
  ++kept_samples_;
}

}  // namespace bench::steps
