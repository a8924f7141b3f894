#include "harness/device.hpp"

#include "harness/cuda.hpp"
#include "harness/program.hpp"
#include "harness/ranks.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace bench::steps {
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

}  // namespace bench::steps
