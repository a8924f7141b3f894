#include "harness/cuda.hpp"

#include <stdexcept>

#ifdef BENCH_STEPS_CUDA
#include <deque>

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDACachingAllocator.h>
#endif

namespace bench::steps {
#ifdef BENCH_STEPS_CUDA
namespace {

class CudaClock : public Clock {
 public:
  explicit CudaClock(const torch::Device& device) : device_(device) {}

  std::size_t mark() override {
    events_.emplace_back(cudaEventDefault).record();  // the other kinds of event take no time
    return events_.size() - 1;
  }

  void wait() override { torch::cuda::synchronize(device_.index()); }

  double seconds_between(std::size_t from, std::size_t to) const override {
    return static_cast<double>(events_.at(from).elapsed_time(events_.at(to))) * 1e-3;
  }

  void clear() override { events_.clear(); }

 private:
  torch::Device device_;
  std::deque<at::cuda::CUDAEvent> events_;  // a deque, since they can neither be copied nor moved
};

}  // namespace

bool built_with_cuda() {
  return true;
}

std::string cuda_device_name(const torch::Device& device) {
  return at::cuda::getDeviceProperties(device.index())->name;
}

std::int64_t cuda_memory_bytes(const torch::Device& device) {
  return static_cast<std::int64_t>(at::cuda::getDeviceProperties(device.index())->totalGlobalMem);
}

bool cuda_has_tf32(const torch::Device& device) {
  return device.is_cuda() && at::cuda::getDeviceProperties(device.index())->major >= 8;
}

std::optional<std::int64_t> cuda_peak_memory_bytes(const torch::Device& device) {
  // The first of the statistics is the sum over the allocator's pools.
  return c10::cuda::CUDACachingAllocator::getDeviceStats(device.index()).allocated_bytes[0].peak;
}

std::unique_ptr<Clock> make_cuda_clock(const torch::Device& device) {
  return std::make_unique<CudaClock>(device);
}

#else

bool built_with_cuda() {
  return false;
}

std::string cuda_device_name(const torch::Device&) {
  return "GPU";
}

std::int64_t cuda_memory_bytes(const torch::Device&) {
  return 0;
}

bool cuda_has_tf32(const torch::Device&) {
  return false;
}

std::optional<std::int64_t> cuda_peak_memory_bytes(const torch::Device&) {
  return std::nullopt;
}

std::unique_ptr<Clock> make_cuda_clock(const torch::Device&) {
  throw std::logic_error("a GPU clock was asked for in a program built without CUDA");
}

#endif
}  // namespace bench::steps
