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

class FieldMaker : public SampleMaker {
 public:
  FieldMaker(std::shared_ptr<const FieldSource> source, std::shared_ptr<EpochOrder> order)
      : source_(std::move(source)), reader_(source_->reader()), order_(std::move(order)) {}

  const std::vector<Field>& fields() const override { return source_->fields(); }
  std::optional<std::uint64_t> samples_per_epoch() const override { return order_->items(); }

  void make(std::uint64_t sample, const FieldMemory& memory) override {
    reader_->read(order_->item(sample), memory);
  }

 private:
  std::shared_ptr<const FieldSource> source_;
  std::unique_ptr<FieldSource::Reader> reader_;
  std::shared_ptr<EpochOrder> order_;  ///< Of all threads.
};

}  // namespace

SampleMakers field_makers(const std::shared_ptr<const FieldSource>& source,
                          std::optional<std::uint64_t> seed, int threads) {
  const auto order = std::make_shared<EpochOrder>(source->samples(), seed);
  SampleMakers makers;
  for (int i = 0; i < threads; ++i)
    makers.push_back(std::make_unique<FieldMaker>(source, order));
  return makers;
}

}  // namespace bench::steps
