#pragma once

// A data set without files.

#include "data/fields.hpp"
#include "data/files.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench::steps {

/// Sample n has n and n / 2 in its field `values`, and -n in `label`. Counts how often it is read.
class NumberedSource : public FieldSource {
 public:
  explicit NumberedSource(std::uint64_t samples) : samples_(samples) {}

  const std::vector<Field>& fields() const override { return fields_; }
  std::uint64_t samples() const override { return samples_; }
  std::optional<std::uint64_t> bytes() const override { return samples_ * sample_bytes(fields_); }
  std::unique_ptr<Reader> reader() const override { return std::make_unique<NumberReader>(*this); }

  std::uint64_t reads() const { return reads_; }

 private:
  class NumberReader : public Reader {
   public:
    explicit NumberReader(const NumberedSource& source) : source_(source) {}

    void read(std::uint64_t sample, const FieldMemory& memory) override {
      if (sample >= source_.samples_)
        throw DataError("numbers", "no sample " + std::to_string(sample));
      ++source_.reads_;
      floats(memory[0])[0] = static_cast<float>(sample);
      floats(memory[0])[1] = static_cast<float>(sample) / 2;
      integers(memory[1])[0] = -static_cast<std::int64_t>(sample);
    }

   private:
    const NumberedSource& source_;
  };

  std::vector<Field> fields_ = {{"values", FieldType::float32, {2}},
                                {"label", FieldType::int64, {}}};
  std::uint64_t samples_;
  mutable std::atomic<std::uint64_t> reads_ = 0;
};

}  // namespace bench::steps
