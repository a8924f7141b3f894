#include "thrift_struct.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench::result {
namespace {

/// Small numbers of either sign become small numbers without one.
std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
}

/// The number of its bytes, and these.
void append_counted(std::string& bytes, const std::string& text) {
  append_varint(bytes, text.size());
  bytes += text;
}

}  // namespace

void append_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U)
    bytes += static_cast<char>(value | 0x80U);
  bytes += static_cast<char>(value);
}

/// @param id at most 15 above the one before it, as all of Parquet's are
void ThriftStruct::begin_field(int id, Type type) {
  fields_ += static_cast<char>((id - last_id_) * 16 + static_cast<int>(type));
  last_id_ = id;
}

void ThriftStruct::begin_list(int id, Type of, std::size_t size) {
  begin_field(id, Type::list);
  fields_ +=
      static_cast<char>((size < 15 ? static_cast<int>(size) : 15) * 16 + static_cast<int>(of));
  if (size >= 15)
    append_varint(fields_, size);
}

ThriftStruct& ThriftStruct::add_i32(int id, std::int32_t value) {
  begin_field(id, Type::i32);
  append_varint(fields_, zigzag(value));
  return *this;
}

ThriftStruct& ThriftStruct::add_i64(int id, std::int64_t value) {
  begin_field(id, Type::i64);
  append_varint(fields_, zigzag(value));
  return *this;
}

ThriftStruct& ThriftStruct::add_text(int id, const std::string& text) {
  begin_field(id, Type::text);
  append_counted(fields_, text);
  return *this;
}

ThriftStruct& ThriftStruct::add_struct(int id, const ThriftStruct& value) {
  begin_field(id, Type::structure);
  fields_ += value.bytes();
  return *this;
}

ThriftStruct& ThriftStruct::add_i32_list(int id, const std::vector<std::int32_t>& values) {
  begin_list(id, Type::i32, values.size());
  for (const std::int32_t value : values)
    append_varint(fields_, zigzag(value));
  return *this;
}

ThriftStruct& ThriftStruct::add_text_list(int id, const std::vector<std::string>& texts) {
  begin_list(id, Type::text, texts.size());
  for (const std::string& text : texts)
    append_counted(fields_, text);
  return *this;
}

ThriftStruct& ThriftStruct::add_struct_list(int id, const std::vector<ThriftStruct>& values) {
  begin_list(id, Type::structure, values.size());
  for (const ThriftStruct& value : values)
    fields_ += value.bytes();
  return *this;
}

std::string ThriftStruct::bytes() const {
  return fields_ + '\0';
}

}  // namespace bench::result
