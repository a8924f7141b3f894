#pragma once

#include "harness/saved_state.hpp"
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

/// What an fp16 loss is multiplied by, so that small gradients do not vanish: as large as the
/// gradients stay finite.
///
/// A step with a gradient that is not finite is skipped; after `hysteresis` of them, without
/// `window` finite ones in a row since, the scale is halved, but not below `least`. After each
/// `window` finite ones in a row it is doubled. Source: Micikevicius et al., Mixed Precision
/// Training (arXiv:1710.03740), section 3.2, with the hysteresis of Megatron-LM.
class DynamicLossScale {
 public:
  struct Options {
    double initial = 4096;
    double least = 1;
    int window = 500;
    int hysteresis = 2;
  };

  explicit DynamicLossScale(const Options& options)
      : options_(options), scale_(options.initial), patience_(options.hysteresis) {}

  double scale() const { return scale_; }

  /// Takes whether all gradients of a step were finite.
  /// @returns whether training can go on: false if they were not with the least scale
  bool update(bool finite);

  void save(SavedState& state) const;
  void load(const SavedState& state);

 private:
  Options options_;
  double scale_;
  int patience_;
  int finite_in_a_row_ = 0;
};

}  // namespace bench::steps
