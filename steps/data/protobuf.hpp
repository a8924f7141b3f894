#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bench::steps {

/// How the value of a field is written; the two other numbers that exist, 3 and 4, are out of use.
enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// Reads a protocol buffer, or one message inside it, field by field.
///
/// Source: protobuf.dev/programming-guides/encoding.
class ProtobufReader {
 public:
  /// @param file,offset for messages: where `bytes` were found
  /// @pre `file` lives longer
  ProtobufReader(std::string_view bytes, const std::string& file, std::uint64_t offset)
      : bytes_(bytes), file_(file), offset_(offset) {}

  struct Field {
    std::uint64_t number = 0;
    WireType type = WireType::varint;
    std::uint64_t value = 0;  ///< Of all types but bytes.
    std::string_view bytes;   ///< Of type bytes.
    std::uint64_t bytes_at = 0;
  };

  /// Whether another field follows, which then is in `field`.
  /// @throws DataError if it is cut or of a type that does not exist
  bool next(Field& field);

  bool at_end() const { return position_ == bytes_.size(); }

  /// Numbers of a packed list.
  std::uint64_t varint();
  std::uint32_t fixed32();

  /// The message that a field of bytes holds.
  /// @throws DataError if the field is of another type
  ProtobufReader message(const Field& field) const;

  [[noreturn]] void fail(const std::string& message) const;

 private:
  std::string_view take(std::uint64_t count);

  std::string_view bytes_;
  const std::string& file_;
  std::uint64_t offset_;
  std::size_t position_ = 0;
};

void append_varint(std::string& out, std::uint64_t value);

/// A field of type bytes.
void append_field(std::string& out, std::uint64_t number, std::string_view bytes);

}  // namespace bench::steps
