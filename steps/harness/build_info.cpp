#include "harness/build_info.hpp"

#include "harness/blas.hpp"
#include "harness/cuda.hpp"
#include "harness/device.hpp"
#include "harness/log.hpp"
#include "harness/torch_all.hpp"
#include "harness/usable_cpus.hpp"

#include <cstddef>
#include <string>

#include <fmt/core.h>
#ifdef BENCH_STEPS_NCCL
#include <nccl.h>
#endif

namespace bench::steps {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "gcc " __VERSION__;
#else
  return "unknown";
#endif
}

/// What ranks talk over.
void log_communication() {
#ifdef BENCH_STEPS_GLOO
  log_value("gloo", true);
#else
  log_value("gloo", false);
#endif
#ifdef BENCH_STEPS_NCCL
  log_value("nccl", fmt::format("{}.{}.{}", NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH));
#else
  log_value("nccl", "none");
#endif
}

void log_devices() {
  const torch::Device cpu(torch::kCPU);
  log_value("cpu", device_name(cpu));
  log_value("usable_cpus", usable_cpus());
  log_value("cpu_memory_bytes", device_memory_bytes(cpu));
  const auto gpus =
      built_with_cuda() ? static_cast<std::size_t>(torch::cuda::device_count()) : std::size_t{0};
  log_value("gpus", gpus);
  for (std::size_t k = 0; k < gpus; ++k) {
    const torch::Device gpu(torch::kCUDA, static_cast<torch::DeviceIndex>(k));
    log_value(fmt::format("gpu_{}", k), device_name(gpu));
    log_value(fmt::format("gpu_{}_memory_bytes", k), device_memory_bytes(gpu));
  }
}

}  // namespace

void log_build_info(const std::string& program) {
  log_value("program", program);
  log_value("version", BENCH_VERSION);
  log_value("compiler", compiler());
  log_value("torch_version", TORCH_VERSION);
  const Blas blas = detect_blas();
  log_value("blas", blas.name);
  log_value("blas_library", blas.library);
  log_value("blas_kernels", blas.kernels);
  log_communication();
  log_devices();
  fmt::print("\n{}", at::show_config());  // CUDA, cuDNN, oneDNN and so on, in LibTorch's own words
}

}  // namespace bench::steps
