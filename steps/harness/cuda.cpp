#include "harness/cuda.hpp"

#include "harness/clock.hpp"
#include "harness/replay.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef BENCH_STEPS_CUDA
#include "harness/device.hpp"
#include "harness/gpu_runtime.hpp"

#include <deque>
#include <vector>

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#endif

namespace bench::steps {
#ifdef BENCH_STEPS_CUDA
namespace {

class CudaClock : public Clock {
 public:
  explicit CudaClock(const torch::Device& device) : device_(device) { anchor_.record(); }

  Mark mark() override {
    if (unused_.empty())
      unused_.emplace_back(timed_event);
    events_.push_back(std::move(unused_.back()));
    unused_.pop_back();
    events_.back().record();
    return marks_++;
  }

  void wait() override { torch::cuda::synchronize(device_.index()); }

  bool has_reached(Mark mark) const override {
    return mark < oldest() || events_.at(static_cast<std::size_t>(mark - oldest())).query();
  }

  double take_oldest() override {
    at::cuda::CUDAEvent event = std::move(events_.front());
    events_.pop_front();
    const double time_s =
        anchor_s_ + static_cast<double>(anchor_.elapsed_time(event)) * seconds_per_millisecond;
    if (time_s - anchor_s_ > longest_distance_s) {
      std::swap(anchor_, event);
      anchor_s_ = time_s;
    }
    unused_.push_back(std::move(event));
    return time_s;
  }

 private:
  static constexpr double seconds_per_millisecond = 1e-3;
  /// Distances are floats of milliseconds: 0.25 us is their last digit in four seconds, 0.25 ms
  /// would be in an hour.
  static constexpr double longest_distance_s = 4;

  Mark oldest() const { return marks_ - events_.size(); }

  torch::Device device_;
  at::cuda::CUDAEvent anchor_{timed_event};
  double anchor_s_ = 0;  ///< Its time.
  std::deque<at::cuda::CUDAEvent> events_;
  std::vector<at::cuda::CUDAEvent> unused_;
  Mark marks_ = 0;
};

/// Where several graphs have their temporary memory.
using GraphMemory = decltype(at::cuda::graph_pool_handle());

void begin_recording(at::cuda::CUDAGraph& graph, const GraphMemory& memory) {
#if BENCH_TORCH_AT_LEAST(2, 1)
  graph.capture_begin(memory, recording_mode);
#else
  graph.capture_begin(memory);
#endif
}

class CudaGraph : public Graph {
 public:
  explicit CudaGraph(const GraphMemory& memory) : memory_(memory) {}

  void begin() override { begin_recording(graph_, memory_); }
  void end() override { graph_.capture_end(); }
  void replay() override { graph_.replay(); }

 private:
  GraphMemory memory_;
  at::cuda::CUDAGraph graph_;
};

class CudaGraphMaker : public GraphMaker {
 public:
  explicit CudaGraphMaker(const torch::Device& device)
      : device_(device), stream_(own_stream(device)), memory_(at::cuda::graph_pool_handle()) {}

  std::unique_ptr<Graph> make() override {
    if (!std::exchange(made_one_, true)) {
      torch::cuda::synchronize(device_.index());
      gpu_memory::emptyCache();  // graphs cannot use what was kept for the steps before them
    }
    return std::make_unique<CudaGraph>(memory_);
  }

 private:
  /// What was made so far was made on another stream.
  static c10::Stream own_stream(const torch::Device& device) {
    torch::cuda::synchronize(device.index());
    return c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
  }

  torch::Device device_;
  c10::StreamGuard stream_;
  GraphMemory memory_;
  bool made_one_ = false;
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
#ifdef BENCH_STEPS_ROCM
  static_cast<void>(device);
  return false;
#else
  return device.is_cuda() && at::cuda::getDeviceProperties(device.index())->major >= 8;
#endif
}

std::optional<std::int64_t> cuda_peak_memory_bytes(const torch::Device& device) {
  // The first of the statistics is the sum over the allocator's pools.
  return gpu_memory::getDeviceStats(device.index()).allocated_bytes[0].peak;
}

void reset_cuda_peak_memory(const torch::Device& device) {
  gpu_memory::resetPeakStats(device.index());
}

std::unique_ptr<Clock> make_cuda_clock(const torch::Device& device) {
  return std::make_unique<CudaClock>(device);
}

std::function<std::vector<double>()> cuda_numbers_on_host(const torch::Tensor& numbers) {
  // Only into memory that stays in its place does the GPU copy by itself.
  const torch::Tensor there = torch::empty(
      numbers.sizes(), torch::TensorOptions(numbers.scalar_type()).pinned_memory(true));
  there.copy_(numbers.detach(), /*non_blocking=*/true);
  const auto copied = std::make_shared<at::cuda::CUDAEvent>();
  copied->record();
  return [there, copied] {
    copied->synchronize();
    return numbers_of(there);
  };
}

std::unique_ptr<GraphMaker> make_cuda_graphs(const torch::Device& device) {
  return std::make_unique<CudaGraphMaker>(device);
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

void reset_cuda_peak_memory(const torch::Device&) {}

std::unique_ptr<Clock> make_cuda_clock(const torch::Device&) {
  throw std::logic_error("a GPU clock was asked for in a program built without CUDA");
}

std::function<std::vector<double>()> cuda_numbers_on_host(const torch::Tensor&) {
  throw std::logic_error("numbers of a GPU were asked for in a program built without CUDA");
}

std::unique_ptr<GraphMaker> make_cuda_graphs(const torch::Device&) {
  throw std::logic_error("a GPU's graphs were asked for in a program built without CUDA");
}

#endif
}  // namespace bench::steps
