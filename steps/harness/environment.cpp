#include "harness/environment.hpp"

#include "harness/device.hpp"
#include "harness/log.hpp"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include <dlfcn.h>
#include <fmt/core.h>
#include <omp.h>
#include <sched.h>

namespace bench::steps {
namespace {

constexpr const char* openblas_advice =
    "install OpenBLAS in its OpenMP flavour (Debian: libopenblas0-openmp) and make it the one in "
    "use, for example with "
    "LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/openblas-openmp";

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
    "PYTORCH_CUDA_ALLOC_CONF",
    "NVIDIA_TF32_OVERRIDE",
    "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "PYTORCH_HIP_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "MIOPEN_FIND_MODE",
    "MIOPEN_USER_DB_PATH",
};

/// The number that OpenBLAS gives its kind of threads: 0 none, 1 its own, 2 OpenMP.
std::optional<int> openblas_parallel(const std::string& library) {
  const std::unique_ptr<void, int (*)(void*)> handle(
      ::dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD), &::dlclose);
  if (!handle)
    return std::nullopt;
  // Looks into the library and what it depends on, and nowhere else: another OpenBLAS may be
  // loaded for LAPACK.
  const auto ask = reinterpret_cast<int (*)()>(::dlsym(handle.get(), "openblas_get_parallel"));
  return ask ? std::optional<int>(ask()) : std::nullopt;
}

void prepare_environment(const CommonArguments& arguments, const Blas& blas) {
  const int threads = arguments.threads > 0 ? arguments.threads : usable_cpus();
  at::set_num_threads(threads);
  // A downloaded LibTorch brings an OpenMP runtime of its own; the loops compiled into this
  // program then run in another one.
  ::omp_set_num_threads(threads);
  torch::manual_seed(arguments.seed);
  // Without this a GPU takes the first algorithm that fits. The search falls into the first step,
  // so a run without warm-up measures it too.
  at::globalContext().setBenchmarkCuDNN(true);
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
  if (device.is_cuda()) {
    log_value("cublas_allow_tf32", at::globalContext().allowTF32CuBLAS());
    log_value("cudnn_allow_tf32", at::globalContext().allowTF32CuDNN());
  }
  log_value("seed", arguments.seed);
  for (const char* variable : read_variables)
    if (const char* value = std::getenv(variable))
      log_value(fmt::format("environment_{}", variable), value);
}

}  // namespace

int usable_cpus() {
  constexpr std::size_t most = 65536;
  const std::size_t bytes = CPU_ALLOC_SIZE(most);
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
      CPU_ALLOC(most), [](cpu_set_t* allocated) { CPU_FREE(allocated); });
  CPU_ZERO_S(bytes, set.get());
  if (::sched_getaffinity(0, bytes, set.get()) != 0)
    return 1;
  return CPU_COUNT_S(bytes, set.get());
}

Blas classify_blas(bool mkl, const std::string& library, std::optional<int> openblas_parallel) {
  if (mkl)
    return {"mkl", "", ""};
  if (openblas_parallel == 2)
    return {"openblas-openmp", library, ""};
  if (openblas_parallel == 1)
    return {"openblas-pthread", library,
            fmt::format("it ignores --threads and gets in the way of LibTorch's own threads; {}",
                        openblas_advice)};
  if (openblas_parallel == 0)
    return {"openblas-serial", library, fmt::format("it uses one core; {}", openblas_advice)};
  if (library.empty())
    return {"unknown", "", ""};
  for (const char* other : {"mkl", "nvpl", "armpl", "blis", "atlas"})
    if (library.find(other) != std::string::npos)
      return {other, library, ""};
  return {"reference", library,
          fmt::format("matrix products may be 16 times slower; {}", openblas_advice)};
}

Blas detect_blas() {
  // Resolved like LibTorch's own call, so it finds the library that is used even if several that
  // define the name are loaded.
  void* const sgemm = ::dlsym(RTLD_DEFAULT, "sgemm_");
  Dl_info info{};
  const bool found = sgemm && ::dladdr(sgemm, &info) != 0 && info.dli_fname;
  if (!found)
    return classify_blas(at::hasMKL(), "", std::nullopt);
  const std::string library = info.dli_fname;
  std::error_code not_resolved;  // then the name as it was loaded says enough
  const auto file = std::filesystem::canonical(library, not_resolved);
  return classify_blas(at::hasMKL(), not_resolved ? library : file.string(),
                       openblas_parallel(library));
}

void set_up_environment(const CommonArguments& arguments, const torch::Device& device) {
  const Blas blas = detect_blas();
  prepare_environment(arguments, blas);
  log_environment(arguments, device, blas);
}

}  // namespace bench::steps
