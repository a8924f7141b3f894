#include "harness/device.hpp"

#include "harness/errors.hpp"
#include "harness/ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

// LibTorch's headers for GPUs: NVIDIA's, or AMD's, which have the same functions in files that are
// named after HIP. Namespaces are CUDA's in both, but for c10's before LibTorch 2.9 or so.
#ifdef BENCH_STEPS_CUDA
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
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
#endif

namespace bench::steps {
namespace {

class HostClock : public Clock {
 public:
  Mark mark() override {
    times_.push_back(std::chrono::steady_clock::now());
    return marks_++;
  }
  void wait() override {}  // operations on the CPU are done when they return
  bool has_reached(Mark) const override { return true; }
  double take_oldest() override {
    const double time_s = std::chrono::duration<double>(times_.front() - origin_).count();
    times_.pop_front();
    return time_s;
  }

 private:
  std::chrono::steady_clock::time_point origin_ = std::chrono::steady_clock::now();
  std::deque<std::chrono::steady_clock::time_point> times_;
  Mark marks_ = 0;
};

#ifdef BENCH_STEPS_CUDA

/// The allocator of the GPU's memory, under either name.
namespace gpu_memory {
using namespace c10::cuda::CUDACachingAllocator;
using namespace c10::hip::HIPCachingAllocator;
}  // namespace gpu_memory

// The other kinds of event take no time. While this thread records a graph, others may take memory:
// those that load samples.
#ifdef BENCH_STEPS_ROCM
constexpr unsigned timed_event = hipEventDefault;
constexpr auto recording_mode = hipStreamCaptureModeThreadLocal;
#else
constexpr unsigned timed_event = cudaEventDefault;
constexpr auto recording_mode = cudaStreamCaptureModeThreadLocal;
#endif

/// Takes CUDA events on the current stream. An event is used again when its time has been taken.
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

std::int64_t cuda_memory_bytes(const torch::Device& device) {
  return static_cast<std::int64_t>(at::cuda::getDeviceProperties(device.index())->totalGlobalMem);
}

/// Peak of the bytes in tensors on this GPU since the program began, or since the peak was reset.
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

}  // namespace

bool built_with_cuda() {
  return true;
}

std::string cuda_device_name(const torch::Device& device) {
  return at::cuda::getDeviceProperties(device.index())->name;
}

bool cuda_has_tf32(const torch::Device& device) {
#ifdef BENCH_STEPS_ROCM
  static_cast<void>(device);
  return false;
#else
  return device.is_cuda() && at::cuda::getDeviceProperties(device.index())->major >= 8;
#endif
}

std::unique_ptr<GraphMaker> make_cuda_graphs(const torch::Device& device) {
  return std::make_unique<CudaGraphMaker>(device);
}

#else

std::int64_t cuda_memory_bytes(const torch::Device&) {
  return 0;
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

}  // namespace

bool built_with_cuda() {
  return false;
}

std::string cuda_device_name(const torch::Device&) {
  return "GPU";
}

bool cuda_has_tf32(const torch::Device&) {
  return false;
}

std::unique_ptr<GraphMaker> make_cuda_graphs(const torch::Device&) {
  throw std::logic_error("a GPU's graphs were asked for in a program built without CUDA");
}

#endif

std::unique_ptr<Clock> make_clock(const torch::Device& device) {
  if (device.is_cuda())
    return make_cuda_clock(device);
  return std::make_unique<HostClock>();
}

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

// x86 kernels tell the maker's name in /proc/cpuinfo, Arm kernels only part numbers.
std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  }
  utsname system{};
  return ::uname(&system) == 0 ? fmt::format("{} CPU", system.machine) : "CPU";
}

/// N of `cuda:N` (0 for `cuda`), -1 for `cpu`.
int parse_gpu(const std::string& name) {
  const std::string_view digits =
      name.starts_with("cuda:") ? std::string_view(name).substr(5) : std::string_view();
  if (name == "cpu")
    return -1;
  if (name == "cuda")
    return 0;
  if (digits.empty() || digits.size() > 3 ||
      digits.find_first_not_of("0123456789") != std::string_view::npos)
    throw UsageError(fmt::format("unknown device '{}'", name),
                     "--device takes auto, cpu, cuda or cuda:N");
  return std::stoi(std::string(digits));
}

/// The smallest limit of memory of this process's control groups, of either version.
std::int64_t control_group_limit() {
  std::int64_t least = unlimited;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto controllers = line.find(':') + 1;
    const auto path = line.find(':', controllers) + 1;
    const std::string which = line.substr(controllers, path - 1 - controllers);
    const bool second = which.empty();
    if (controllers == 0 || path == 0 || (!second && which != "memory"))
      continue;
    const fs::path root(second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    // A container may see its own group as the root, and its path of the host.
    for (fs::path group = fs::path(line.substr(path)).relative_path();;
         group = group.parent_path()) {
      std::int64_t limit = 0;
      if (std::ifstream(root / group / (second ? "memory.max" : "memory.limit_in_bytes")) >> limit)
        least = std::min(least, limit);
      if (group.empty())
        break;
    }
  }
  return least;
}

std::int64_t process_limit() {
  std::int64_t least = unlimited;
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) == 0 && limit.rlim_cur < static_cast<rlim_t>(unlimited))
      least = std::min(least, static_cast<std::int64_t>(limit.rlim_cur));
  }
  return least;
}

}  // namespace

torch::Device select_device(const std::string& name) {
  const auto gpus = static_cast<int>(torch::cuda::device_count());
  const int gpu = name == "auto" ? (gpus > 0 ? 0 : -1) : parse_gpu(name);
  if (gpu < 0)
    return torch::Device(torch::kCPU);
  if (gpu >= gpus)
    throw UsageError(fmt::format("device {} is not there: LibTorch sees {} GPUs", name, gpus),
                     built_with_cuda() ? "check CUDA_VISIBLE_DEVICES, or use --device cpu"
                                       : "this program was built against a LibTorch without CUDA; "
                                         "use --device cpu, or build it against one with CUDA");
  return torch::Device(torch::kCUDA, static_cast<c10::DeviceIndex>(gpu));
}

torch::Device select_device(const std::string& name, const Ranks& ranks) {
  return select_device(device_of_rank(name, ranks, static_cast<int>(torch::cuda::device_count())));
}

std::string device_name(const torch::Device& device) {
  return device.is_cuda() ? cuda_device_name(device) : processor_name();
}

std::function<std::vector<double>()> numbers_on_host(const torch::Tensor& numbers) {
  if (numbers.is_cuda())
    return cuda_numbers_on_host(numbers);
  return [values = numbers_of(numbers)] { return values; };
}

std::vector<double> numbers_of(const torch::Tensor& numbers) {
  const torch::Tensor values = numbers.detach().to(torch::kCPU, torch::kDouble).contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

std::int64_t device_memory_bytes(const torch::Device& device, int processes) {
  if (device.is_cuda())
    return cuda_memory_bytes(device);
  const std::int64_t host = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGE_SIZE);
  return std::min(std::min(host, control_group_limit()) / processes, process_limit());
}

std::optional<std::int64_t> peak_memory_bytes(const torch::Device& device) {
  if (device.is_cuda())
    return cuda_peak_memory_bytes(device);
  // getrusage's peak also has that of the program before an exec, and cannot be reset.
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;
       status.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
    if (std::int64_t kib = 0; key == "VmHWM:" && status >> kib)
      return kib * 1024;
  return std::nullopt;
}

void reset_peak_memory(const torch::Device& device) {
  if (device.is_cuda())
    return reset_cuda_peak_memory(device);
  std::ofstream("/proc/self/clear_refs") << "5";  // proc(5): resets VmHWM
}

std::optional<std::vector<double>> LaggedNumbers::add(const torch::Tensor& numbers) {
  under_way_.push_back(numbers_on_host(numbers));
  return under_way_.size() > lag_ ? take() : std::nullopt;
}

std::optional<std::vector<double>> LaggedNumbers::take() {
  if (under_way_.empty())
    return std::nullopt;
  const auto wait_for = under_way_.front();
  under_way_.pop_front();
  return wait_for();
}

}  // namespace bench::steps
