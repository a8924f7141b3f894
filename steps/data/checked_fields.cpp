#include "data/checked_fields.hpp"

#include "data/field_source.hpp"
#include "data/fields.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace bench::steps {
namespace {

class CheckedSource : public FieldSource {
 public:
  CheckedSource(std::unique_ptr<FieldSource> stored, CheckSample check)
      : stored_(std::move(stored)), check_(std::move(check)) {}

  const std::vector<Field>& fields() const override { return stored_->fields(); }
  std::uint64_t samples() const override { return stored_->samples(); }
  std::optional<std::uint64_t> bytes() const override { return stored_->bytes(); }
  std::unique_ptr<Reader> reader() const override {
    return std::make_unique<CheckingReader>(*this);
  }

 private:
  class CheckingReader : public Reader {
   public:
    explicit CheckingReader(const CheckedSource& source)
        : source_(source), reader_(source.stored_->reader()) {}

    void read(std::uint64_t sample, const FieldMemory& memory) override {
      reader_->read(sample, memory);
      source_.check_(sample, memory);
    }

   private:
    const CheckedSource& source_;
    std::unique_ptr<Reader> reader_;
  };

  std::unique_ptr<FieldSource> stored_;
  CheckSample check_;
};

}  // namespace

std::unique_ptr<FieldSource> checked_fields(std::unique_ptr<FieldSource> stored,
                                            CheckSample check) {
  return std::make_unique<CheckedSource>(std::move(stored), std::move(check));
}

}  // namespace bench::steps
