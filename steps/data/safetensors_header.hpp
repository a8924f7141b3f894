#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {

/// Where a tensor stands in a safetensors file.
struct StoredTensor {
  std::string name;
  std::string type;  ///< As the format names it: `F32`, `BF16`, `I64` and so on.
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  ///< First byte, from the begin of the file.
  std::uint64_t bytes = 0;
};

/// Bytes of a number of that type; 0 for an unknown one.
std::size_t bytes_of_safetensors_type(std::string_view type);

/// The tensors of a safetensors file in the order of their bytes. The header stands first: its
/// length as uint64, then JSON.
///
/// Source: https://huggingface.co/docs/safetensors, "Format".
/// @param file its name, for messages
/// @param bytes all of it
/// @throws DataError if it is no such file, not whole, or bytes belong to no tensor or to two
std::vector<StoredTensor> read_safetensors_header(const std::string& file, std::string_view bytes);

/// The begin of such a file, up to the first byte of a tensor; the tensors follow it without gaps,
/// in the order in which they are given.
/// @param tensors without `begin` and `bytes`, of known types
/// @param metadata texts for people
std::string safetensors_header(const std::vector<StoredTensor>& tensors,
                               const std::map<std::string, std::string>& metadata);

}  // namespace bench::steps
