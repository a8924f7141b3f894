#pragma once

#include "harness/arguments.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bench::steps {

/// The library that LibTorch's matrix products on the CPU end in.
struct Blas {
  std::string name;     ///< For example `openblas-openmp`.
  std::string library;  ///< Its file; empty where it is part of LibTorch.
  std::string kernels;  ///< Of OpenBLAS: the kind of processor whose kernels it has chosen.
  std::string advice;   ///< What to do about a library that spoils measurements; else empty.
};

/// @param mkl whether LibTorch was built with MKL
/// @param library file that defines `sgemm_`, or empty
/// @param openblas_parallel what that library's `openblas_get_parallel()` returns, if it has one
Blas classify_blas(bool mkl, const std::string& library, std::optional<int> openblas_parallel);

/// What a processor can do, and the system lets it.
struct VectorUnits {
  bool avx2 = false;    ///< AVX2 and FMA.
  bool avx512 = false;  ///< AVX-512 F, CD, BW, DQ and VL, as Skylake-X has them.
};

/// OpenBLAS knows processors by their numbers and takes one that came out after it for one of
/// 2004: products are five times slower then. The kind of processor it should take this one for,
/// as OPENBLAS_CORETYPE names it; empty where its choice is as good.
/// @param kernels its choice, as `openblas_get_corename()` names it
std::string better_kernels(std::string_view kernels, const VectorUnits& processor);

/// Sets threads and seed, and warns on stderr about a BLAS that spoils measurements. Prints as
/// `name=value` what of the surroundings decides the result: versions, device, threads, BLAS, and
/// the environment variables that the libraries read.
/// @throws OutOfMemory if products on the CPU have no memory to work in
void set_up_environment(const CommonArguments& arguments, const torch::Device& device);

/// Prints what the program was built with and sees on this machine, for `--build-info`: compiler,
/// LibTorch, BLAS, communication and devices as `name=value`, then LibTorch's own description.
void log_build_info(const std::string& program);

}  // namespace bench::steps
