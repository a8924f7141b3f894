#include "harness/blas.hpp"

#include "harness/program.hpp"
#include "harness/torch_all.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/mman.h>

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

std::string better_kernels(std::string_view kernels, const VectorUnits& processor) {
  if (std::ranges::count(kernels_without_avx2, kernels) == 0)
    return "";
  if (processor.avx512)
    return "SkylakeX";
  return processor.avx2 ? "Haswell" : "";
}

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

}  // namespace bench::steps
