#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {

/// Writes parameters and buffers of a module by their names to a safetensors file, which other
/// frameworks read. An empty name writes nothing. A file of that name is replaced when the new one
/// is complete.
/// @throws UsageError if the file cannot be made
/// @throws std::runtime_error if not everything could be written
void save_weights(const std::string& file, const torch::nn::Module& module);

/// Overwrites parameters and buffers of a module with those of a safetensors file, converted to the
/// module's type. An empty name reads nothing.
/// @throws UsageError if it cannot be opened
/// @throws DataError if it is damaged
/// @throws HintedError if the names differ from the module's, or a shape does
void load_weights(const std::string& file, torch::nn::Module& module);

/// Where a tensor stands in a safetensors file.
struct StoredTensor {
  std::string name;
  std::string type;  ///< As the format names it: `F32`, `BF16`, `I64` and so on.
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  ///< First byte, from the begin of the file.
  std::uint64_t bytes = 0;
};

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
