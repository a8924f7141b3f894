#include "data/transformed_fields.hpp"

#include "data/field_source.hpp"
#include "data/fields.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace bench::steps {
namespace {

class TransformedSource : public FieldSource {
 public:
  TransformedSource(std::shared_ptr<const FieldSource> stored, std::vector<Field> fields,
                    TransformSample transform)
      : stored_(std::move(stored)), fields_(std::move(fields)), transform_(std::move(transform)) {}

  const std::vector<Field>& fields() const override { return fields_; }
  std::uint64_t samples() const override { return stored_->samples(); }
  std::optional<std::uint64_t> bytes() const override { return stored_->bytes(); }
  std::unique_ptr<Reader> reader() const override;

 private:
  class TransformingReader;

  std::shared_ptr<const FieldSource> stored_;
  std::vector<Field> fields_;
  TransformSample transform_;
};

class TransformedSource::TransformingReader : public Reader {
 public:
  explicit TransformingReader(const TransformedSource& source)
      : source_(source), reader_(source.stored_->reader()), stored_(source.stored_->fields()) {}

  void read(std::uint64_t sample, const FieldMemory& memory) override {
    reader_->read(sample, stored_.memory());
    source_.transform_(stored_.memory(), memory);
  }

 private:
  const TransformedSource& source_;
  std::unique_ptr<Reader> reader_;
  SampleBuffer stored_;
};

std::unique_ptr<FieldSource::Reader> TransformedSource::reader() const {
  return std::make_unique<TransformingReader>(*this);
}

}  // namespace

std::unique_ptr<FieldSource> transformed_fields(std::shared_ptr<const FieldSource> stored,
                                                std::vector<Field> fields,
                                                TransformSample transform) {
  return std::make_unique<TransformedSource>(std::move(stored), std::move(fields),
                                             std::move(transform));
}

}  // namespace bench::steps
