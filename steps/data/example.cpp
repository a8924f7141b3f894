#include "data/example.hpp"

#include "data/array_fields.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "data/tfrecord.hpp"
#include "harness/errors.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {

void ProtobufReader::fail(const std::string& message) const {
  throw DataError(file_, offset_ + position_, message);
}

std::string_view ProtobufReader::take(std::uint64_t count) {
  if (count > bytes_.size() - position_)
    fail(fmt::format("a field of {} bytes, where {} are left", count, bytes_.size() - position_));
  const std::string_view taken = bytes_.substr(position_, count);
  position_ += taken.size();
  return taken;
}

std::uint64_t ProtobufReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_end())
      fail("a number that does not end");
    const auto byte = static_cast<unsigned char>(bytes_[position_++]);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0)
      return value;
  }
  fail("a number of more than ten bytes");
}

std::uint32_t ProtobufReader::fixed32() {
  return number_at<std::uint32_t>(take(4), 0);
}

bool ProtobufReader::next(Field& field) {
  if (at_end())
    return false;
  const std::uint64_t tag = varint();
  field = {.number = tag >> 3, .type = static_cast<WireType>(tag & 7)};
  switch (field.type) {
    case WireType::varint:
      field.value = varint();
      return true;
    case WireType::fixed64:
      field.value = number_at<std::uint64_t>(take(8), 0);
      return true;
    case WireType::fixed32:
      field.value = fixed32();
      return true;
    case WireType::bytes: {
      const std::uint64_t length = varint();
      field.bytes_at = offset_ + position_;
      field.bytes = take(length);
      return true;
    }
  }
  fail(fmt::format("a field of type {}, which does not exist", tag & 7));
}

ProtobufReader ProtobufReader::message(const Field& field) const {
  if (field.type != WireType::bytes)
    fail(fmt::format("field {} is not a message", field.number));
  return {field.bytes, file_, field.bytes_at};
}

namespace {

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

/// A field of type bytes.
void append_field(std::string& out, std::uint64_t number, std::string_view bytes) {
  append_varint(out, number << 3 | static_cast<std::uint64_t>(WireType::bytes));
  append_varint(out, bytes.size());
  out += bytes;
}

}  // namespace

namespace {

BytesList bytes_list(ProtobufReader list) {
  BytesList values;
  for (ProtobufReader::Field field; list.next(field);)
    if (field.number == 1) {
      if (field.type != WireType::bytes)
        list.fail("a list of bytes with something else in it");
      values.push_back(field.bytes);
    }
  return values;
}

/// A list of numbers, packed into fields of bytes or in fields of their own, or both.
/// @param single how a number is written that has its own field
template <typename Number, typename Read, typename Convert>
std::vector<Number> number_list(ProtobufReader list, WireType single, Read read, Convert convert) {
  std::vector<Number> values;
  for (ProtobufReader::Field field; list.next(field);) {
    if (field.number != 1)
      continue;
    if (field.type == single) {
      values.push_back(convert(field.value));
      continue;
    }
    ProtobufReader packed = list.message(field);
    while (!packed.at_end())
      values.push_back(convert(read(packed)));
  }
  return values;
}

FloatList float_list(const ProtobufReader& list) {
  return number_list<float>(
      list, WireType::fixed32, [](ProtobufReader& packed) { return packed.fixed32(); },
      [](std::uint64_t value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value)); });
}

Int64List int64_list(const ProtobufReader& list) {
  return number_list<std::int64_t>(
      list, WireType::varint, [](ProtobufReader& packed) { return packed.varint(); },
      [](std::uint64_t value) { return static_cast<std::int64_t>(value); });
}

Feature feature_of(ProtobufReader feature) {
  Feature result;
  for (ProtobufReader::Field field; feature.next(field);) {
    if (field.number == 1)
      result = bytes_list(feature.message(field));
    else if (field.number == 2)
      result = float_list(feature.message(field));
    else if (field.number == 3)
      result = int64_list(feature.message(field));
  }
  return result;
}

void read_entry(ProtobufReader entry, Example& example) {
  std::string_view name;
  Feature value;
  for (ProtobufReader::Field field; entry.next(field);) {
    if (field.number == 1 && field.type == WireType::bytes)
      name = field.bytes;
    else if (field.number == 2)
      value = feature_of(entry.message(field));
  }
  example.insert_or_assign(std::string(name), std::move(value));
}

struct ListBytes {
  std::string out;

  void operator()(std::monostate) {}
  void operator()(const BytesList& values) {
    std::string list;
    for (const std::string_view value : values)
      append_field(list, 1, value);
    append_field(out, 1, list);
  }
  void operator()(const FloatList& values) {
    append_packed(2, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  }
  void operator()(const Int64List& values) {
    std::string packed;
    for (const std::int64_t value : values)
      append_varint(packed, static_cast<std::uint64_t>(value));
    append_packed(3, packed);
  }

 private:
  /// An empty list has no field: that is how protobuf writes packed lists.
  void append_packed(std::uint64_t kind, std::string_view packed) {
    std::string list;
    if (!packed.empty())
      append_field(list, 1, packed);
    append_field(out, kind, list);
  }
};

}  // namespace

Example parse_example(std::string_view payload, const std::string& file, std::uint64_t payload_at) {
  Example result;
  ProtobufReader example(payload, file, payload_at);
  for (ProtobufReader::Field outer; example.next(outer);) {
    if (outer.number != 1)
      continue;
    ProtobufReader features = example.message(outer);
    for (ProtobufReader::Field entry; features.next(entry);)
      if (entry.number == 1)
        read_entry(features.message(entry), result);
  }
  return result;
}

std::string write_example(const Example& example) {
  std::string features;
  for (const auto& [name, feature] : example) {
    ListBytes list;
    std::visit(list, feature);
    std::string entry;
    append_field(entry, 1, name);
    append_field(entry, 2, list.out);
    append_field(features, 1, entry);
  }
  std::string result;
  append_field(result, 1, features);
  return result;
}

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

namespace {

class ExampleWriter : public FieldWriter {
 public:
  ExampleWriter(const std::string& path, const std::vector<Field>& fields, int compression)
      : fields_(fields),
        writer_(path, compression > 0 ? Compression::gzip : Compression::none, compression) {}

  void add(const FieldMemory& sample) override {
    Example example;
    for (std::size_t i = 0; i < fields_.size(); ++i)
      example[fields_[i].name] = feature_of(fields_[i].type, sample[i]);
    writer_.add(write_example(example));
  }

  void finish() override { writer_.finish(); }

 private:
  static Feature feature_of(FieldType type, std::span<std::byte> memory) {
    if (type == FieldType::float32) {
      const std::span<float> numbers = floats(memory);
      return FloatList(numbers.begin(), numbers.end());
    }
    const std::span<std::int64_t> numbers = integers(memory);
    return Int64List(numbers.begin(), numbers.end());
  }

  std::vector<Field> fields_;
  TfRecordWriter writer_;
};

}  // namespace

std::unique_ptr<FieldWriter> make_example_writer(const std::string& path,
                                                 const std::vector<Field>& fields,
                                                 int compression) {
  return std::make_unique<ExampleWriter>(path, fields, compression);
}

}  // namespace bench::steps
