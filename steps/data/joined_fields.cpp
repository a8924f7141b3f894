#include "data/joined_fields.hpp"

#include "data/field_source.hpp"
#include "data/fields.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bench::steps {
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
