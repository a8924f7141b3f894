#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bench::steps {

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

}  // namespace bench::steps
