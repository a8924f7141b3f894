#include "deepcam/sample.hpp"

#include "data/data_error.hpp"
#include "data/hdf5_fields.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include <fmt/core.h>

namespace bench::deepcam {
namespace {

/// Samples whose labels are checked: a network would fail at a bad one without naming its file.
class CheckedSamples : public steps::FieldSource {
 public:
  /// @param files one for each sample
  CheckedSamples(std::unique_ptr<steps::FieldSource> source, std::vector<std::string> files)
      : source_(std::move(source)), files_(std::move(files)) {}

  const std::vector<steps::Field>& fields() const override { return source_->fields(); }
  std::uint64_t samples() const override { return source_->samples(); }
  std::optional<std::uint64_t> bytes() const override { return source_->bytes(); }
  std::unique_ptr<Reader> reader() const override;

 private:
  class CheckingReader;

  std::unique_ptr<steps::FieldSource> source_;
  std::vector<std::string> files_;
};

class CheckedSamples::CheckingReader : public Reader {
 public:
  explicit CheckingReader(const CheckedSamples& samples)
      : samples_(samples), reader_(samples.source_->reader()) {}

  void read(std::uint64_t sample, const steps::FieldMemory& memory) override {
    reader_->read(sample, memory);
    const std::span<const std::int64_t> labels = steps::integers(memory[1]);
    const auto bad = std::ranges::find_if(
        labels, [](std::int64_t label) { return label < 0 || label >= label::count; });
    if (bad == labels.end())
      return;
    const std::int64_t width = samples_.fields()[1].shape[1];
    const std::int64_t point = bad - labels.begin();
    throw steps::DataError(samples_.files_[sample],
                           fmt::format("variable 'climate/labels_0' at ({}, {}): {} is not a class "
                                       "from 0 to {}",
                                       point / width, point % width, *bad, label::count - 1));
  }

 private:
  const CheckedSamples& samples_;
  std::unique_ptr<Reader> reader_;
};

std::unique_ptr<steps::FieldSource::Reader> CheckedSamples::reader() const {
  return std::make_unique<CheckingReader>(*this);
}

}  // namespace

std::vector<steps::Field> fields(std::int64_t height, std::int64_t width) {
  return {{.name = "data", .shape = {height, width, channel_count}},
          {.name = "labels", .type = steps::FieldType::int64, .shape = {height, width}}};
}

std::unique_ptr<steps::FieldSource> open_samples(const std::vector<std::string>& files) {
  auto source = steps::open_hdf5_fields(
      files, {.fields = {{.name = "data", .variable = "climate/data", .axes = {}},
                         {.name = "labels", .variable = "climate/labels_0", .axes = {}}}});
  return std::make_unique<CheckedSamples>(std::move(source), files);
}

}  // namespace bench::deepcam
