#pragma once

#include "transformer/decoder_sizes.hpp"

#include <cstdint>
#include <string>

namespace bench::transformer {

/// Number of devices per kind of parallelism.
struct Layout {
  std::int64_t tensor = 1;    ///< Split the matrices of a layer, and activations by tokens.
  std::int64_t pipeline = 1;  ///< Split the layers.
  std::int64_t data = 1;      ///< Split the batch, and the state of the optimizer (ZeRO-1).

  std::int64_t devices_per_model() const { return tensor * pipeline; }
  std::int64_t devices() const { return devices_per_model() * data; }
};

/// Returns why a layout cannot split a model into equal shares; empty if it can.
std::string layout_error(const DecoderSizes& sizes, const Layout& layout);

}  // namespace bench::transformer
