#pragma once

#include "gpt/architecture.hpp"

#include <cstdint>
#include <string>

namespace bench::gpt {

/// How a model is spread over devices.
struct Layout {
  std::int64_t tensor = 1;    ///< Each layer's matrices, and its activations along the sequence.
  std::int64_t pipeline = 1;  ///< The layers.
  std::int64_t data = 1;      ///< The batch, and the state of the optimizer (ZeRO-1).

  /// That share one copy of the model.
  std::int64_t devices_per_model() const { return tensor * pipeline; }
  std::int64_t devices() const { return devices_per_model() * data; }
};

/// Why the model cannot be spread like this, for whoever chose the layout; empty if it can.
std::string layout_error(const Architecture& architecture, const Layout& layout);

}  // namespace bench::gpt
