#pragma once

#include "harness/torch_all.hpp"

#include <string>

namespace bench::steps {

/// The number format of matrix products and convolutions. Weights, gradients and optimizer state
/// stay fp32 in all of them (mixed precision). tf32 is fp32 whose factors NVIDIA's tensor cores
/// round to 10 bits; fp32 never does that.
enum class Precision { fp32, tf32, bf16, fp16 };

/// @throws UsageError if `name` is none of them
Precision parse_precision(const std::string& name);

/// Warns on stderr where the device has only slow kernels for this precision.
/// @throws UsageError if it has none
void check_precision(Precision precision, const torch::Device& device);

/// What the loss is multiplied by before the backward pass, and the gradients divided by after.
///
/// 128 for fp16, whose smallest gradients would otherwise vanish; 1 otherwise. A static scale, as
/// tf_cnn_benchmarks uses for ResNet: it needs no look at the gradients and so no host sync.
double loss_scale(Precision precision);

/// Tells cuBLAS and cuDNN, for the rest of the process, to round to tf32 or not. LibTorch's own
/// choice is half of each: it rounds in convolutions alone.
void allow_rounding_to_tf32(Precision precision);

/// Runs the operations of one scope in the given precision; fp32 and tf32 change nothing.
///
/// The casted copies of the weights live until the end of the scope, so that a scope is one
/// forward pass: after the optimizer's step the copies would be stale.
class Autocast {
 public:
  Autocast(const torch::Device& device, Precision precision);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  torch::DeviceType device_type_;
  bool active_;
};

}  // namespace bench::steps
