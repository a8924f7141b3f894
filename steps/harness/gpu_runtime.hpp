#pragma once

// LibTorch's headers for GPUs: NVIDIA's, or AMD's, which have the same functions in files that are
// named after HIP. Namespaces are CUDA's in both, but for c10's before LibTorch 2.9 or so.

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

namespace c10::cuda::CUDACachingAllocator {}
namespace c10::hip::HIPCachingAllocator {}

namespace bench::steps {

/// The allocator of the GPU's memory, under either name.
namespace gpu_memory {
using namespace c10::cuda::CUDACachingAllocator;
using namespace c10::hip::HIPCachingAllocator;
}  // namespace gpu_memory

// The other kinds of event take no time. While this thread records a graph, others may take memory:
// those that load samples.
#ifdef BENCH_STEPS_ROCM
inline constexpr unsigned timed_event = hipEventDefault;
inline constexpr auto recording_mode = hipStreamCaptureModeThreadLocal;
#else
inline constexpr unsigned timed_event = cudaEventDefault;
inline constexpr auto recording_mode = cudaStreamCaptureModeThreadLocal;
#endif

}  // namespace bench::steps
