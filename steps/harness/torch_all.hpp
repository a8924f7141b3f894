#pragma once

// Every use of LibTorch goes through this header. ivalue.h stands first because clang in C++20
// mode rejects torch.h of LibTorch 1.13 otherwise (an incomplete c10::IValue in a std::vector).
// clang-format off
#include <ATen/core/ivalue.h>
#include <torch/torch.h>
// clang-format on
#include <torch/version.h>

/// Whether LibTorch is at least this release.
#define BENCH_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||        \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))
