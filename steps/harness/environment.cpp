#include "harness/environment.hpp"

#include "harness/arguments.hpp"
#include "harness/blas.hpp"
#include "harness/device.hpp"
#include "harness/log.hpp"
#include "harness/precision.hpp"
#include "harness/usable_cpus.hpp"

#include <cstdlib>

#include <fmt/core.h>
#include <omp.h>

namespace bench::steps {
namespace {

// These change speed without a trace in the program's own options.
constexpr const char* read_variables[] = {
    "OMP_NUM_THREADS",
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "OMP_WAIT_POLICY",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_L2_SIZE",
    "MKL_NUM_THREADS",
    "ONEDNN_MAX_CPU_ISA",
    "ATEN_CPU_CAPABILITY",
    "GLIBC_TUNABLES",
    "MALLOC_ARENA_MAX",
    "LD_PRELOAD",
    "CUDA_VISIBLE_DEVICES",
    "CUBLAS_WORKSPACE_CONFIG",
    "PYTORCH_CUDA_ALLOC_CONF",
    "NVIDIA_TF32_OVERRIDE",
    "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "PYTORCH_HIP_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "MIOPEN_FIND_MODE",
    "MIOPEN_USER_DB_PATH",
};

void prepare_environment(const CommonArguments& arguments, const Blas& blas) {
  const int threads = arguments.threads > 0 ? arguments.threads : usable_cpus();
  at::set_num_threads(threads);
  // A downloaded LibTorch brings its own OpenMP runtime; the loops compiled into this
  // program then run in another one.
  ::omp_set_num_threads(threads);
  torch::manual_seed(arguments.seed);
  // Without this a GPU takes the first algorithm that fits. The search falls into the first step,
  // so a run without warm-up measures it too.
  at::globalContext().setBenchmarkCuDNN(!arguments.deterministic);
  at::globalContext().setDeterministicCuDNN(arguments.deterministic);
  at::globalContext().setDeterministicAlgorithms(arguments.deterministic, /*warn_only=*/false);
#if BENCH_TORCH_AT_LEAST(2, 2)
  // Nothing here reads memory before it is written, so filling it would cost time for nothing.
  at::globalContext().setDeterministicFillUninitializedMemory(false);
#endif
  allow_rounding_to_tf32(arguments.precision());
  if (!blas.advice.empty())
    fmt::print(stderr, "warning: BLAS is {} ({}): {}\n", blas.name, blas.library, blas.advice);
}

void log_environment(const CommonArguments& arguments, const torch::Device& device,
                     const Blas& blas) {
  log_value("torch_version", TORCH_VERSION);
  log_value("device", device.str());
  log_value("device_name", device_name(device));
  log_value("precision", arguments.precision_name);
  log_value("threads", at::get_num_threads());
  log_value("usable_cpus", usable_cpus());
  log_value("blas", blas.name);
  if (!blas.library.empty())
    log_value("blas_library", blas.library);
  if (!blas.kernels.empty())
    log_value("blas_kernels", blas.kernels);
  if (device.is_cuda()) {
    log_value("cublas_allow_tf32", at::globalContext().allowTF32CuBLAS());
    log_value("cudnn_allow_tf32", at::globalContext().allowTF32CuDNN());
  }
  log_value("seed", arguments.seed);
  log_value("deterministic", arguments.deterministic);
  for (const char* variable : read_variables)
    if (const char* value = std::getenv(variable))
      log_value(fmt::format("environment_{}", variable), value);
}

}  // namespace

void set_up_environment(const CommonArguments& arguments, const torch::Device& device) {
  const Blas blas = detect_blas();
  prepare_environment(arguments, blas);
  log_environment(arguments, device, blas);
  if (device.is_cpu())
    take_blas_buffers(at::get_num_threads());
}

}  // namespace bench::steps
