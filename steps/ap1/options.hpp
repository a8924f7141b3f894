#pragma once

#include "ap1/network.hpp"

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace bench::ap1 {

struct NetworkOptions {
  std::int64_t patch = 256;  ///< Side in grid points.
  std::string activation_name = "relu";

  Activation activation() const {
    return activation_name == "relu" ? Activation::relu : Activation::leaky_relu;
  }
};

void add_network_options(CLI::App& app, NetworkOptions& options);

/// @throws steps::UsageError if the network cannot be trained on batches of this size: a
///         normalisation over a single value has no variance
void check_batch_size(const NetworkOptions& options, std::int64_t batch_size);

}  // namespace bench::ap1
