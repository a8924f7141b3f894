#pragma once

// LibTorch's headers for GPUs: NVIDIA's, or AMD's, which have the same functions. There the files
// and c10's namespace are named after HIP, and ATen's namespace after CUDA all the same.

#ifdef BENCH_STEPS_ROCM
#include <ATen/hip/HIPContext.h>
#include <ATen/hip/HIPEvent.h>
#include <ATen/hip/HIPGraph.h>
#include <c10/hip/HIPCachingAllocator.h>
#else
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#endif

namespace bench::steps {

// The other kinds of event take no time.
#ifdef BENCH_STEPS_ROCM
namespace gpu_memory = c10::hip::HIPCachingAllocator;
inline constexpr unsigned timed_event = hipEventDefault;
#else
namespace gpu_memory = c10::cuda::CUDACachingAllocator;
inline constexpr unsigned timed_event = cudaEventDefault;
#endif

}  // namespace bench::steps
