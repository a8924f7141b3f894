#include "harness/environment.hpp"

#include "harness/arguments.hpp"
#include "harness/device.hpp"
#include "harness/errors.hpp"
#include "harness/log.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/torch_all.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <dlfcn.h>
#include <fmt/core.h>
#include <omp.h>
#include <sys/mman.h>

#ifdef BENCH_STEPS_NCCL
#include <nccl.h>
#endif

namespace bench::steps {
namespace {

constexpr const char* openblas_advice =
    "install OpenBLAS in its OpenMP flavour (Debian: libopenblas0-openmp) and make it the one in "
    "use, for example with "
    "LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/openblas-openmp";

// OpenBLAS's names of processors without AVX2. Where it knows a processor by another one, its
// choice stands.
constexpr std::array<std::string_view, 22> kernels_without_avx2 = {
    "Unknown",     "Generic",    "Katmai",      "Coppermine",   "Northwood",  "Prescott",
    "Banias",      "Atom",       "Core2",       "Penryn",       "Dunnington", "Nehalem",
    "Sandybridge", "Athlon",     "Opteron",     "Opteron_SSE3", "Barcelona",  "Bobcat",
    "Bulldozer",   "Piledriver", "Steamroller", "Nano"};

VectorUnits vector_units() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return {
      .avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0,
      .avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512cd") != 0 &&
                __builtin_cpu_supports("avx512bw") != 0 &&
                __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0};
#else
  return {};
#endif
}

/// The library in which LibTorch's calls end, as it was loaded; empty where it is none of its own.
/// Resolved like those calls, so it is the one that is used even if several define the name.
std::string library_of_products() {
  void* const sgemm = ::dlsym(RTLD_DEFAULT, "sgemm_");
  Dl_info info{};
  const bool found = sgemm && ::dladdr(sgemm, &info) != 0 && info.dli_fname;
  return found ? info.dli_fname : "";
}

/// Calls a function of OpenBLAS; nothing where the library is another. Looks into the library and
/// what it depends on, and nowhere else: another OpenBLAS may be loaded for LAPACK.
template <typename Result>
std::optional<Result> ask_openblas(const std::string& library, const char* function) {
  const std::unique_ptr<void, int (*)(void*)> handle(
      ::dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD), &::dlclose);
  if (!handle)
    return std::nullopt;
  const auto ask = reinterpret_cast<Result (*)()>(::dlsym(handle.get(), function));
  return ask ? std::optional<Result>(ask()) : std::nullopt;
}

/// Whether so much memory is available now.
bool has_room(std::size_t bytes) {
  void* const there =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return there != MAP_FAILED && ::munmap(there, bytes) == 0;
}

std::string advice_on_kernels(const std::string& kernels) {
  const std::string better = better_kernels(kernels, vector_units());
  if (better.empty())
    return "";
  return fmt::format(
      "it takes this processor for {}, an older one; OPENBLAS_CORETYPE={} in the environment makes "
      "matrix products several times faster",
      kernels, better);
}

/// The BLAS of this process.
Blas detect_blas() {
  const std::string library = library_of_products();
  if (at::hasMKL() || library.empty())
    return classify_blas(at::hasMKL(), "", std::nullopt);
  std::error_code not_resolved;  // then the name as it was loaded says enough
  const auto file = std::filesystem::canonical(library, not_resolved);
  Blas blas = classify_blas(false, not_resolved ? library : file.string(),
                            ask_openblas<int>(library, "openblas_get_parallel"));
  blas.kernels = ask_openblas<const char*>(library, "openblas_get_corename").value_or("");
  if (blas.advice.empty())
    blas.advice = advice_on_kernels(blas.kernels);
  return blas;
}

/// Has OpenBLAS take the memory that products on that many threads work in, before anything else is
/// allocated: where it finds none later, it looks for it again and again without end. Nothing where
/// the library is another one.
/// @throws OutOfMemory if there is not enough
void take_blas_buffers(int threads) {
  // A buffer has 128 MiB, and while OpenBLAS looks for a good place it maps twice as much.
  constexpr std::size_t bytes = (std::size_t{256} + 8) << 20;
  const auto alloc = reinterpret_cast<void* (*)(int)>(::dlsym(RTLD_DEFAULT, "blas_memory_alloc"));
  const auto free = reinterpret_cast<void (*)(void*)>(::dlsym(RTLD_DEFAULT, "blas_memory_free"));
  if (!alloc || !free)
    return;
  std::vector<void*> buffers;  // all at once: one that was given back would be taken again
  bool enough = true;
  for (int i = 0; i < threads && enough; ++i) {
    enough = has_room(bytes);
    if (enough)
      buffers.push_back(alloc(0));
  }
  for (void* const buffer : buffers)
    free(buffer);  // OpenBLAS keeps it
  if (!enough)
    throw OutOfMemory(
        fmt::format("not enough memory for the buffers of OpenBLAS, 128 MiB for each of {} threads",
                    threads),
        "raise the limit of memory (`ulimit -a`), or use fewer --threads");
}

}  // namespace

Blas classify_blas(bool mkl, const std::string& library, std::optional<int> openblas_parallel) {
  if (mkl)
    return {.name = "mkl"};
  Blas blas{.name = "unknown", .library = library};
  if (openblas_parallel == 2) {
    blas.name = "openblas-openmp";
  } else if (openblas_parallel == 1) {
    blas.name = "openblas-pthread";
    blas.advice = fmt::format(
        "it ignores --threads and gets in the way of LibTorch's own threads; {}", openblas_advice);
  } else if (openblas_parallel == 0) {
    blas.name = "openblas-serial";
    blas.advice = fmt::format("it uses one core; {}", openblas_advice);
  } else if (!library.empty()) {
    for (const char* other : {"mkl", "nvpl", "armpl", "blis", "atlas"})
      if (library.find(other) != std::string::npos) {
        blas.name = other;
        return blas;
      }
    blas.name = "reference";
    blas.advice = fmt::format("matrix products may be 16 times slower; {}", openblas_advice);
  }
  return blas;
}

std::string better_kernels(std::string_view kernels, const VectorUnits& processor) {
  if (std::ranges::count(kernels_without_avx2, kernels) == 0)
    return "";
  if (processor.avx512)
    return "SkylakeX";
  return processor.avx2 ? "Haswell" : "";
}

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
