#include "data/example_fields.hpp"

#include "data/data_error.hpp"
#include "data/example.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/number_type.hpp"
#include "data/tfrecord_set.hpp"
#include "harness/program.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {
namespace {

class ExampleSource : public FieldSource {
 public:
  ExampleSource(const std::vector<std::string>& files, const std::vector<ExampleField>& fields,
                int threads, std::uint64_t records_per_file)
      : records_(files, threads, records_per_file), sources_(fields) {
    for (const ExampleField& field : fields)
      fields_.push_back(field.field);
  }

  const std::vector<Field>& fields() const override { return fields_; }
  std::uint64_t samples() const override { return records_.size(); }
  std::optional<std::uint64_t> bytes() const override { return records_.bytes(); }
  std::unique_ptr<Reader> reader() const override;

 private:
  class RecordReader;

  TfRecordSet records_;
  std::vector<ExampleField> sources_;
  std::vector<Field> fields_;
};

/// Copies the numbers of one feature.
class FeatureCopy {
 public:
  FeatureCopy(const TfRecordSet::Record& record, const ExampleField& field)
      : record_(record), field_(field) {}

  void run(const Example& example, std::span<std::byte> memory) const {
    const auto found = example.find(field_.feature);
    if (found == example.end())
      fail("is missing");
    if (field_.raw)
      copy_raw(list_in<BytesList>(found->second, "bytes"), memory);
    else if (field_.field.type == FieldType::float32)
      copy(list_in<FloatList>(found->second, "floats"), memory);
    else
      copy(list_in<Int64List>(found->second, "integers"), memory);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw DataError(record_.file, record_.offset,
                    fmt::format("feature '{}' {}", field_.feature, message));
  }

  template <typename List>
  const List& list_in(const Feature& feature, std::string_view kind) const {
    const List* const list = std::get_if<List>(&feature);
    if (!list)
      fail(fmt::format("is not a list of {}", kind));
    return *list;
  }

  void check_count(std::size_t count, std::string_view unit, std::size_t expected) const {
    if (count != expected)
      fail(fmt::format("has {} {}, expected {}", count, unit, expected));
  }

  template <typename List>
  void copy(const List& numbers, std::span<std::byte> memory) const {
    check_count(numbers.size(), "numbers", static_cast<std::size_t>(field_.field.elements()));
    std::memcpy(memory.data(), numbers.data(), memory.size());
  }

  void copy_raw(const BytesList& list, std::span<std::byte> memory) const {
    check_count(list.size(), "strings of bytes", 1);
    const auto count = static_cast<std::size_t>(field_.field.elements());
    check_count(list.front().size(), "bytes", count * bytes_of(*field_.raw));
    if (const auto bad = convert(list.front(), *field_.raw, {}, field_.field.type, memory))
      fail(fmt::format("has number {}, which is too large for the field", bad->index));
  }

  const TfRecordSet::Record& record_;
  const ExampleField& field_;
};

class ExampleSource::RecordReader : public Reader {
 public:
  explicit RecordReader(const ExampleSource& source)
      : records_(source.records_), fields_(source.sources_) {}

  void read(std::uint64_t sample, const FieldMemory& memory) override {
    const TfRecordSet::Record record = records_.at(sample);
    const Example example = parse_example(record.payload, record.file, record.payload_at);
    for (std::size_t i = 0; i < fields_.size(); ++i)
      FeatureCopy(record, fields_[i]).run(example, memory[i]);
  }

 private:
  TfRecordSet::Reader records_;
  const std::vector<ExampleField>& fields_;
};

std::unique_ptr<FieldSource::Reader> ExampleSource::reader() const {
  return std::make_unique<RecordReader>(*this);
}

void check(const ExampleField& field) {
  if (field.raw && is_real(*field.raw) && field.field.type == FieldType::int64)
    throw UsageError(fmt::format("field '{}' has integers, feature '{}' {}", field.field.name,
                                 field.feature, name_of(*field.raw)),
                     "make the field float32");
}

}  // namespace

std::unique_ptr<FieldSource> open_example_fields(const std::vector<std::string>& files,
                                                 const std::vector<ExampleField>& fields,
                                                 int threads, std::uint64_t records_per_file) {
  for (const ExampleField& field : fields)
    check(field);
  auto source = std::make_unique<ExampleSource>(files, fields, threads, records_per_file);
  if (source->samples() == 0)
    throw DataError(files.front(), "no records, in this file and all others");
  return source;
}

}  // namespace bench::steps
