#include "data/field_samples.hpp"

#include "data/fields.hpp"
#include "data/random.hpp"
#include "data/sample_loader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {
namespace {

/// Samples of a data set of `all` that belong to the shard.
std::uint64_t samples_in(const SampleShard& shard, std::uint64_t all) {
  return all / shard.ranks + (shard.rank < all % shard.ranks ? 1 : 0);
}

}  // namespace

SampleMakers field_makers(const std::shared_ptr<const FieldSource>& source,
                          std::optional<std::uint64_t> seed, int threads,
                          const SampleShard& shard) {
  const auto order = std::make_shared<EpochOrder>(samples_in(shard, source->samples()), seed);
  const auto make_function = [&]() -> FillSample {
    const std::shared_ptr<FieldSource::Reader> reader = source->reader();
    return [source, reader, order, shard](std::uint64_t sample, const FieldMemory& memory) {
      const std::uint64_t step = sample / (shard.ranks * shard.batch);
      const std::uint64_t own = step * shard.batch + sample % shard.batch;
      reader->read(order->item(own) * shard.ranks + shard.rank, memory);
    };
  };
  return sample_makers(source->fields(), threads, make_function, source->samples());
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

std::function<SampleMakers(std::uint64_t seed, int threads)> generated_samples(
    std::vector<Field> fields, GenerateSample generate) {
  return [fields = std::move(fields), generate = std::move(generate)](std::uint64_t seed,
                                                                      int threads) {
    const FillSample make = [seed, generate](std::uint64_t sample, const FieldMemory& memory) {
      generate(EpochOrder::stream(seed, sample), memory);
    };
    return sample_makers(fields, threads, [&] { return make; });
  };
}

namespace {

/// 4096 of them are 16 KiB, which stay in the first cache.
constexpr int bits_per_level = 12;
constexpr std::size_t levels = std::size_t{1} << bits_per_level;
using Levels = std::vector<float>;

std::shared_ptr<const Levels> make_normal_levels() {
  constexpr double cut = 8;  // beyond it lie 1e-15 of the distribution
  const std::vector<double> exact = normal_levels(levels, cut);
  return std::make_shared<const Levels>(exact.begin(), exact.end());
}

/// Sets each number to `number(bits)` of that many random bits.
template <int bits_per_number, typename Number>
void fill(std::span<float> numbers, Random& random, Number&& number) {
  constexpr std::uint64_t mask = (std::uint64_t{1} << bits_per_number) - 1;
  constexpr std::size_t per_draw = 64 / bits_per_number;
  const auto draw = [&](std::span<float> some) {
    std::uint64_t bits = random.next();
    for (float& value : some) {
      value = number(static_cast<std::int32_t>(bits & mask));  // converts faster than 64 bits
      bits >>= bits_per_number;
    }
  };
  const std::size_t even = numbers.size() / per_draw * per_draw;
  for (std::size_t i = 0; i < even; i += per_draw)
    draw(numbers.subspan(i).first<per_draw>());
  if (even < numbers.size())
    draw(numbers.subspan(even));
}

void draw(const SyntheticField& field, const Levels& normal, std::span<std::byte> memory,
          Random& random) {
  if (field.field.type == FieldType::int64)
    for (std::int64_t& number : integers(memory))
      number = random.below(field.bound);
  else if (field.distribution == Distribution::uniform)
    fill<24>(floats(memory), random,
             [](std::int32_t bits) { return static_cast<float>(bits) * 0x1p-24F; });
  else
    fill<bits_per_level>(floats(memory), random,
                         [&](std::int32_t bits) { return normal[static_cast<std::size_t>(bits)]; });
}

}  // namespace

SampleMakers synthetic_field_makers(const std::vector<SyntheticField>& fields, std::uint64_t seed,
                                    int threads) {
  std::vector<Field> plain;
  for (const SyntheticField& field : fields) {
    if (field.bound == 0)
      throw std::invalid_argument(fmt::format("the bound of field '{}' is 0", field.field.name));
    plain.push_back(field.field);
  }
  const std::shared_ptr<const Levels> normal = make_normal_levels();
  const auto generate = [fields, normal](Random random, const FieldMemory& memory) {
    for (std::size_t i = 0; i < fields.size(); ++i)
      draw(fields[i], *normal, memory[i], random);
  };
  return generated_samples(plain, generate)(seed, threads);
}

}  // namespace bench::steps
