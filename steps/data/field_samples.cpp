#include "data/field_samples.hpp"

#include "data/epoch_order.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/sample_maker.hpp"

#include <cstdint>
#include <memory>
#include <optional>
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

}  // namespace bench::steps
