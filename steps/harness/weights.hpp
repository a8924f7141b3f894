#pragma once

#include "harness/torch_all.hpp"

#include <string>

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

}  // namespace bench::steps
