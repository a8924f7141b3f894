#include "data/protobuf.hpp"

#include "data/data_error.hpp"
#include "data/mapped_file.hpp"

#include <cstdint>
#include <string>
#include <string_view>

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

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void append_field(std::string& out, std::uint64_t number, std::string_view bytes) {
  append_varint(out, number << 3 | static_cast<std::uint64_t>(WireType::bytes));
  append_varint(out, bytes.size());
  out += bytes;
}

}  // namespace bench::steps
