#include "data/example.hpp"

#include "data/protobuf.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bench::steps {
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

}  // namespace bench::steps
