#pragma once

#include "harness/arguments.hpp"

#include <optional>
#include <string>

namespace bench::steps {

/// How many CPUs the scheduler lets this process use (its affinity mask).
int usable_cpus();

/// The library that LibTorch's matrix products on the CPU end in.
struct Blas {
  std::string name;     ///< For example `openblas-openmp`.
  std::string library;  ///< Its file; empty where it is part of LibTorch.
  std::string advice;   ///< What to do about a library that spoils measurements; else empty.
};

/// @param mkl whether LibTorch was built with MKL
/// @param library file that defines `sgemm_`, or empty
/// @param openblas_parallel what that library's `openblas_get_parallel()` returns, if it has one
Blas classify_blas(bool mkl, const std::string& library, std::optional<int> openblas_parallel);

/// The BLAS of this process.
Blas detect_blas();

/// Sets threads and seed, and warns on stderr about a BLAS that spoils measurements. Prints as
/// `name=value` what of the surroundings decides the result: versions, device, threads, BLAS, and
/// the environment variables that the libraries read.
void set_up_environment(const CommonArguments& arguments, const torch::Device& device);

}  // namespace bench::steps
