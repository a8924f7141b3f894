#include "data/field_transforms.hpp"

#include "data/fields.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bench::steps {

void Moments::add(double number) {
  ++count;
  const double difference = number - mean;
  mean += difference / count;
  squares += difference * (number - mean);
}

double Moments::deviation() const {
  return std::sqrt(squares / count);
}

void normalise(std::span<const float> numbers, const Moments& moments, std::span<float> to) {
  const double deviation = moments.deviation();
  const double factor = deviation > 0 ? 1 / deviation : 0;
  std::ranges::transform(numbers, to.begin(), [&](float number) {
    return static_cast<float>((static_cast<double>(number) - moments.mean) * factor);
  });
}

FieldMoments moments_of(const FieldSource& source, std::uint64_t samples,
                        const std::vector<Channels>& channels) {
  FieldMoments moments;
  for (const Channels& of_field : channels)
    moments.emplace_back(of_field.count);
  const SampleBuffer sample(source.fields());
  const auto reader = source.reader();
  const std::uint64_t read = std::min(samples, source.samples());
  for (std::uint64_t i = 0; i < read; ++i) {
    reader->read(i * source.samples() / read, sample.memory());
    for (std::size_t field = 0; field < moments.size(); ++field) {
      if (source.fields()[field].type != FieldType::float32)
        continue;
      const auto [count, run] = channels[field];
      const std::span<const float> numbers = floats(sample.memory()[field]);
      for (std::size_t k = 0; k * run < numbers.size(); ++k)
        for (const float number : numbers.subspan(k * run, run))
          moments[field][k % count].add(static_cast<double>(number));
    }
  }
  return moments;
}

std::unique_ptr<FieldSource> checked_fields(const std::shared_ptr<const FieldSource>& stored,
                                            const CheckSample& check) {
  return made_fields(stored->fields(), stored->samples(), stored->bytes(),
                     [stored, check]() -> FillSample {
                       const std::shared_ptr<FieldSource::Reader> reader = stored->reader();
                       return [reader, check](std::uint64_t sample, const FieldMemory& memory) {
                         reader->read(sample, memory);
                         check(sample, memory);
                       };
                     });
}

std::unique_ptr<FieldSource> normalised_fields(const std::shared_ptr<const FieldSource>& stored,
                                               std::uint64_t samples, FieldMoments& moments) {
  const std::vector<Field> fields = stored->fields();
  if (moments.empty())
    moments = moments_of(*stored, samples, std::vector<Channels>(fields.size()));
  return transformed_fields(
      stored, fields, [fields, moments](const FieldMemory& from, const FieldMemory& to) {
        for (std::size_t field = 0; field < fields.size(); ++field)
          if (fields[field].type == FieldType::float32)
            normalise(floats(from[field]), moments[field].front(), floats(to[field]));
          else
            std::ranges::copy(from[field], to[field].begin());
      });
}

std::unique_ptr<FieldSource> transformed_fields(const std::shared_ptr<const FieldSource>& stored,
                                                std::vector<Field> fields,
                                                const TransformSample& transform) {
  return made_fields(
      std::move(fields), stored->samples(), stored->bytes(), [stored, transform]() -> FillSample {
        const std::shared_ptr<FieldSource::Reader> reader = stored->reader();
        const auto buffer = std::make_shared<SampleBuffer>(stored->fields());
        return [reader, buffer, transform](std::uint64_t sample, const FieldMemory& memory) {
          reader->read(sample, buffer->memory());
          transform(buffer->memory(), memory);
        };
      });
}

namespace {

class JoinedFields : public FieldSource {
 public:
  JoinedFields(std::vector<std::shared_ptr<const FieldSource>> sources,
               const std::vector<JoinedField>& fields)
      : sources_(std::move(sources)) {
    for (const auto& source : sources_) {
      if (source->samples() != samples())
        throw std::invalid_argument("joined sources with different numbers of samples");
      parts_.insert(parts_.end(), source->fields().begin(), source->fields().end());
    }
    std::size_t part = 0;
    for (const JoinedField& joined : fields) {
      std::size_t bytes = 0;
      for (const std::size_t end = part + joined.parts; part < end; ++part) {
        if (part == parts_.size() || parts_[part].type != joined.field.type)
          throw std::invalid_argument("field '" + joined.field.name + "' lacks a part of its type");
        bytes += parts_[part].bytes();
      }
      if (bytes != joined.field.bytes())
        throw std::invalid_argument("field '" + joined.field.name + "' is not of its parts' size");
      fields_.push_back(joined.field);
      counts_.push_back(joined.parts);
    }
    if (part != parts_.size())
      throw std::invalid_argument("field '" + parts_[part].name + "' is part of no joined field");
  }

  const std::vector<Field>& fields() const override { return fields_; }
  std::uint64_t samples() const override { return sources_.front()->samples(); }
  std::optional<std::uint64_t> bytes() const override {
    std::uint64_t sum = 0;
    for (const auto& source : sources_) {
      const auto bytes = source->bytes();
      if (!bytes)
        return std::nullopt;
      sum += *bytes;
    }
    return sum;
  }
  std::unique_ptr<Reader> reader() const override { return std::make_unique<JoinedReader>(*this); }

 private:
  class JoinedReader : public Reader {
   public:
    explicit JoinedReader(const JoinedFields& joined) : joined_(joined) {
      for (const auto& source : joined.sources_)
        readers_.push_back(source->reader());
    }

    void read(std::uint64_t sample, const FieldMemory& memory) override {
      const FieldMemory parts = joined_.parts_of(memory);
      auto begin = parts.begin();
      for (std::size_t i = 0; i < readers_.size(); ++i) {
        const auto end = begin + static_cast<std::ptrdiff_t>(joined_.sources_[i]->fields().size());
        readers_[i]->read(sample, {begin, end});
        begin = end;
      }
    }

   private:
    const JoinedFields& joined_;
    std::vector<std::unique_ptr<Reader>> readers_;
  };

  /// The memory of each part.
  FieldMemory parts_of(const FieldMemory& memory) const {
    FieldMemory parts;
    for (std::size_t field = 0; field < memory.size(); ++field) {
      std::size_t offset = 0;
      for (std::size_t i = 0; i < counts_[field]; ++i) {
        const std::size_t bytes = parts_[parts.size()].bytes();
        parts.push_back(memory[field].subspan(offset, bytes));
        offset += bytes;
      }
    }
    return parts;
  }

  std::vector<std::shared_ptr<const FieldSource>> sources_;
  std::vector<Field> parts_;  ///< Of all sources, in order.
  std::vector<Field> fields_;
  std::vector<std::size_t> counts_;  ///< Parts of each field.
};

}  // namespace

std::unique_ptr<FieldSource> join_fields(std::vector<std::shared_ptr<const FieldSource>> sources,
                                         const std::vector<JoinedField>& fields) {
  if (sources.empty())
    throw std::invalid_argument("no sources to join");
  return std::make_unique<JoinedFields>(std::move(sources), fields);
}

}  // namespace bench::steps
