#include "ap6/crops.hpp"

#include "ap6/sample.hpp"
#include "data/epoch_order.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"
#include "data/sample_maker.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace bench::ap6 {
namespace {

class NumberedSource : public steps::FieldSource {
 public:
  explicit NumberedSource(std::shared_ptr<const steps::FieldSource> stored)
      : stored_(std::move(stored)), fields_(stored_->fields()) {
    fields_.push_back(stored_fields({}).back());
  }

  const std::vector<steps::Field>& fields() const override { return fields_; }
  std::uint64_t samples() const override { return stored_->samples(); }
  std::optional<std::uint64_t> bytes() const override { return stored_->bytes(); }
  std::unique_ptr<Reader> reader() const override;

 private:
  class NumberingReader;

  std::shared_ptr<const steps::FieldSource> stored_;
  std::vector<steps::Field> fields_;
};

class NumberedSource::NumberingReader : public Reader {
 public:
  explicit NumberingReader(const NumberedSource& source) : reader_(source.stored_->reader()) {}

  void read(std::uint64_t sample, const steps::FieldMemory& memory) override {
    reader_->read(sample, {memory.begin(), memory.end() - 1});
    steps::integers(memory.back()).front() = static_cast<std::int64_t>(sample);
  }

 private:
  std::unique_ptr<Reader> reader_;
};

std::unique_ptr<steps::FieldSource::Reader> NumberedSource::reader() const {
  return std::make_unique<NumberingReader>(*this);
}

struct Corner {
  std::int64_t top;
  std::int64_t left;
};

/// Copies a crop of all channels.
void copy_crop(std::span<const float> fields, const Grid& grid, const Corner& corner,
               std::span<float> crop_memory) {
  const Grid crop = crop_of(grid);
  auto to = crop_memory.begin();
  for (std::int64_t channel = 0; channel < channel_count; ++channel)
    for (std::int64_t row = 0; row < crop.height; ++row) {
      const std::int64_t from =
          channel * grid.points() + (corner.top + row) * grid.width + corner.left;
      to = std::copy_n(fields.begin() + from, crop.width, to);
    }
}

class CroppingMaker : public steps::SampleMaker {
 public:
  CroppingMaker(std::unique_ptr<steps::SampleMaker> whole, const Grid& grid, std::uint64_t seed)
      : whole_(std::move(whole)),
        sample_(whole_->fields()),
        grid_(grid),
        fields_(cropped_fields(grid)),
        seed_(steps::mixed(seed)) {}

  const std::vector<steps::Field>& fields() const override { return fields_; }
  std::optional<std::uint64_t> samples_per_epoch() const override {
    return whole_->samples_per_epoch();
  }

  void make(std::uint64_t sample, const steps::FieldMemory& memory) override {
    whole_->make(sample, sample_.memory());
    const std::span<const float> fields = steps::floats(sample_.memory()[0]);
    const std::span<float> crops = steps::floats(memory[0]);
    const std::size_t numbers = crops.size() / crop_count;
    const Grid crop = crop_of(grid_);
    const auto below = [](steps::Random& random, std::int64_t places) {
      return static_cast<std::int64_t>(random.below(static_cast<std::uint32_t>(places)));
    };
    steps::Random random = steps::EpochOrder::stream(seed_, sample);
    for (std::size_t i = 0; i < crop_count; ++i) {
      const std::int64_t top = below(random, grid_.height - crop.height + 1);
      const std::int64_t left = below(random, grid_.width - crop.width + 1);
      copy_crop(fields, grid_, {top, left}, crops.subspan(i * numbers, numbers));
    }
    std::ranges::copy(sample_.memory()[1], memory[1].begin());
  }

 private:
  std::unique_ptr<steps::SampleMaker> whole_;
  steps::SampleBuffer sample_;
  Grid grid_;
  std::vector<steps::Field> fields_;
  std::uint64_t seed_;  ///< Another stream than that of synthetic samples.
};

}  // namespace

std::unique_ptr<steps::FieldSource> numbered(std::shared_ptr<const steps::FieldSource> stored) {
  return std::make_unique<NumberedSource>(std::move(stored));
}

steps::SampleMakers random_crops(steps::SampleMakers makers, const Grid& grid, std::uint64_t seed) {
  steps::SampleMakers cropping;
  for (std::unique_ptr<steps::SampleMaker>& maker : makers)
    cropping.push_back(std::make_unique<CroppingMaker>(std::move(maker), grid, seed));
  return cropping;
}

}  // namespace bench::ap6
