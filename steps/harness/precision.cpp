#include "harness/precision.hpp"

#include "harness/arguments.hpp"
#include "harness/device.hpp"
#include "harness/errors.hpp"
#include "harness/saved_state.hpp"

#include <algorithm>
#include <string>

#include <ATen/autocast_mode.h>
#include <fmt/core.h>

namespace bench::steps {
namespace {

void set_autocast(torch::DeviceType device_type, bool enabled) {
#if BENCH_TORCH_AT_LEAST(2, 4)
  at::autocast::set_autocast_enabled(device_type, enabled);
#else
  if (device_type == torch::kCUDA)
    at::autocast::set_enabled(enabled);
  else
    at::autocast::set_cpu_enabled(enabled);
#endif
}

void set_autocast_type(torch::DeviceType device_type, torch::ScalarType type) {
#if BENCH_TORCH_AT_LEAST(2, 4)
  at::autocast::set_autocast_dtype(device_type, type);
#else
  if (device_type == torch::kCUDA)
    at::autocast::set_autocast_gpu_dtype(type);
  else
    at::autocast::set_autocast_cpu_dtype(type);
#endif
}

/// Whether oneDNN's bf16 kernels run here. It asks for AVX-512, with or without bf16 instructions;
/// without them LibTorch takes plain loops instead.
bool has_fast_bf16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq");
#else
  return true;
#endif
}

}  // namespace

Precision CommonArguments::precision() const {
  return parse_precision(precision_name);
}

Precision parse_precision(const std::string& name) {
  if (name == "fp32")
    return Precision::fp32;
  if (name == "tf32")
    return Precision::tf32;
  if (name == "bf16")
    return Precision::bf16;
  if (name == "fp16")
    return Precision::fp16;
  throw UsageError(fmt::format("unknown precision '{}'", name),
                   "--precision takes fp32, tf32, bf16 or fp16");
}

void check_precision(Precision precision, const torch::Device& device) {
  if (precision == Precision::fp16 && device.is_cpu())
    throw UsageError("precision fp16 does not work on the CPU: LibTorch lacks fp16 kernels there",
                     "use --precision bf16, or --device cuda");
  if (precision == Precision::tf32 && !cuda_has_tf32(device))
    throw UsageError(fmt::format("precision tf32 does not work on {}: NVIDIA's GPUs have it, from "
                                 "compute capability 8.0 on",
                                 device.is_cpu() ? "the CPU" : cuda_device_name(device)),
                     "use --precision fp32, which is never rounded to tf32");
  if (precision == Precision::bf16 && device.is_cpu() && !has_fast_bf16())
    fmt::print(stderr,
               "warning: bf16 on a CPU without AVX-512 is many times slower than fp32: LibTorch "
               "has no fast kernels for it; use --precision fp32\n");
}

double loss_scale(Precision precision) {
  return precision == Precision::fp16 ? 128.0 : 1.0;
}

void allow_rounding_to_tf32(Precision precision) {
  const bool allow = precision == Precision::tf32;
  at::globalContext().setAllowTF32CuBLAS(allow);
  at::globalContext().setAllowTF32CuDNN(allow);
}

Autocast::Autocast(const torch::Device& device, Precision precision)
    : device_type_(device.type()),
      active_(precision == Precision::bf16 || precision == Precision::fp16) {
  if (!active_)
    return;
  set_autocast_type(device_type_, precision == Precision::bf16 ? torch::kBFloat16 : torch::kHalf);
  set_autocast(device_type_, true);
}

Autocast::~Autocast() {
  if (!active_)
    return;
  set_autocast(device_type_, false);
  at::autocast::clear_cache();
}

bool DynamicLossScale::update(bool finite) {
  if (finite) {
    if (++finite_in_a_row_ == options_.window) {
      finite_in_a_row_ = 0;
      patience_ = options_.hysteresis;
      scale_ *= 2;
    }
    return true;
  }
  finite_in_a_row_ = 0;
  if (--patience_ > 0)
    return true;
  const bool smaller = scale_ > options_.least;
  scale_ = std::max(scale_ / 2, options_.least);
  return smaller;
}

void DynamicLossScale::save(SavedState& state) const {
  state.set_number("loss_scale", scale_);
  state.set_number("loss_scale_patience", patience_);
  state.set_number("loss_scale_finite_in_a_row", finite_in_a_row_);
}

void DynamicLossScale::load(const SavedState& state) {
  scale_ = state.number("loss_scale");
  patience_ = static_cast<int>(state.number("loss_scale_patience"));
  finite_in_a_row_ = static_cast<int>(state.number("loss_scale_finite_in_a_row"));
}

}  // namespace bench::steps
