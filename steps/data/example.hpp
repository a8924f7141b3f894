#pragma once

#include "data/array_fields.hpp"
#include "data/fields.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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

using BytesList = std::vector<std::string_view>;  ///< Parts of the record they were read from.
using FloatList = std::vector<float>;
using Int64List = std::vector<std::int64_t>;

/// One value of a record; std::monostate where the record says none.
using Feature = std::variant<std::monostate, BytesList, FloatList, Int64List>;

/// A record as TensorFlow keeps it in TFRecord files, tf.train.Example: values by name.
using Example = std::map<std::string, Feature, std::less<>>;

/// Reads the protocol buffer, packed lists and others. Fields that it does not know are passed
/// over.
///
///     Example {1: Features}  Features {1: entry ...}  entry {1: name, 2: Feature}
///     Feature {1: bytes list | 2: float list | 3: int64 list}  list {1: value ...}
///
/// Source: `example.proto` and `feature.proto` of TensorFlow; the encoding of protocol buffers,
/// protobuf.dev/programming-guides/encoding.
///
/// @param payload must live as long as the lists of bytes are used
/// @param file,payload_at for messages: where the payload was found
/// @throws DataError if it is no such protocol buffer
Example parse_example(std::string_view payload, const std::string& file = "example",
                      std::uint64_t payload_at = 0);

/// The same record as TensorFlow writes it, names in alphabetical order.
std::string write_example(const Example& example);

/// Endings of TFRecord files, for `find_data_files`.
inline constexpr std::array<std::string_view, 4> tfrecord_endings = {
    ".tfrecord", ".tfrecords", ".tfrecord.gz", ".tfrecords.gz"};

/// A field, and the feature of tf.train.Example that holds its numbers, slowest dimension first:
/// floats for float32, integers for int64. For example AP3's `hl_inputs` with shape (138, 2).
struct ExampleField {
  Field field;
  std::string feature;
  /// The feature is one string of bytes with such numbers, little endian. For example CosmoFlow's
  /// `x` with int16, converted into a float32 field.
  std::optional<NumberType> raw;
};

/// The samples of TFRecord files, each record a tf.train.Example.
/// @param files at least one; their records are numbered in this order
/// @param threads,records_per_file see TfRecordSet
/// @throws UsageError if a file cannot be opened, or a field cannot have the raw numbers
/// @throws DataError if a file is damaged, or all are empty
std::unique_ptr<FieldSource> open_example_fields(const std::vector<std::string>& files,
                                                 const std::vector<ExampleField>& fields,
                                                 int threads, std::uint64_t records_per_file = 0);

/// See `make_field_writer`. Each record has a list of floats or integers for each field.
/// @param compression level of gzip, 1 to 9; 0: none
std::unique_ptr<FieldWriter> make_example_writer(const std::string& path,
                                                 const std::vector<Field>& fields, int compression);

}  // namespace bench::steps
