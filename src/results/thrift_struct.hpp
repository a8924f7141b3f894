#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench::result {

/// A struct in Thrift's compact protocol, as far as the metadata of Parquet need it. Fields are
/// added in the order of their ids. Source: Apache Thrift, doc/specs/thrift-compact-protocol.md.
class ThriftStruct {
 public:
  ThriftStruct& add_i32(int id, std::int32_t value);
  ThriftStruct& add_i64(int id, std::int64_t value);
  ThriftStruct& add_text(int id, const std::string& text);
  ThriftStruct& add_struct(int id, const ThriftStruct& value);
  ThriftStruct& add_i32_list(int id, const std::vector<std::int32_t>& values);
  ThriftStruct& add_text_list(int id, const std::vector<std::string>& texts);
  ThriftStruct& add_struct_list(int id, const std::vector<ThriftStruct>& values);

  /// With its end.
  std::string bytes() const;

 private:
  enum class Type : std::uint8_t { i32 = 5, i64 = 6, text = 8, list = 9, structure = 12 };

  void begin_field(int id, Type type);
  void begin_list(int id, Type of, std::size_t size);

  std::string fields_;
  int last_id_ = 0;
};

/// Seven bits in each byte, the lowest first; the highest bit says that more follow.
void append_varint(std::string& bytes, std::uint64_t value);

}  // namespace bench::result
