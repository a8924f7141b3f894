#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/core/units.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/energy/sources/model.hpp>
#include <bench/energy/sources/nvml_library.hpp>

namespace bench::energy {
namespace {

struct ModelKey {
  std::string_view name;
  PowerModel::Device device;
};
constexpr std::array model_keys{ModelKey{"cpu=", PowerModel::Device::cpu},
                                ModelKey{"node=", PowerModel::Device::node},
                                ModelKey{"gpu=", PowerModel::Device::gpu}};

}  // namespace

PowerModel parse_model(const std::string& text) {
  constexpr std::string_view range = "..";
  for (const ModelKey& key : model_keys) {
    if (!text.starts_with(key.name))
      continue;
    const std::string power = text.substr(key.name.size());
    const auto dots = power.find(range);
    PowerModel model{.device = key.device};
    if (dots != std::string::npos)
      model.idle_w = parse_power_w(power.substr(0, dots));
    model.full_w =
        parse_power_w(dots == std::string::npos ? power : power.substr(dots + range.size()));
    if (model.idle_w > model.full_w)
      throw Error(Id::invalid_value,
                  fmt::format("model '{}' draws more when idle than when busy", text),
                  "write idle..full, like cpu=20W..65W");
    return model;
  }
  throw Error(Id::invalid_value, fmt::format("unknown model '{}'", text),
              "model:cpu=65W, model:cpu=20W..65W, model:node=300W..900W or model:gpu=60W..400W");
}

std::unique_ptr<PowerSource> open_model(const PowerModel& model, const NvmlSettings& nvml) {
  return model.device == PowerModel::Device::gpu ? open_gpu_model(model, nvml)
                                                 : open_cpu_model(model);
}

extern const SourceMethod model_method{
    .name = "model",
    .open =
        [](const std::string& argument, const SourceSettings&) {
          return open_model(parse_model(argument), nvml_settings_of_environment());
        },
    .argument = "cpu=20W..65W",
    .check = [](const std::string& argument) { parse_model(argument); },
    .note = "(an estimate from utilisation; also model:node=300W..900W, model:gpu=60W..400W)",
};

namespace {

/// Time is booked in whole ticks, so power is taken over thirty of them: right to a few percent.
constexpr double ticks_of_a_step = 3;

/// The CPUs this process may run on; empty where the kernel does not say.
std::set<int> allowed_cpus() {
  constexpr int limit = 8192;
  std::set<int> cpus;
  cpu_set_t* mask = CPU_ALLOC(limit);
  const std::size_t size = CPU_ALLOC_SIZE(limit);
  if (::sched_getaffinity(0, size, mask) == 0)
    for (int cpu = 0; cpu < limit; ++cpu)
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, mask))
        cpus.insert(cpu);
  CPU_FREE(mask);
  return cpus;
}

/// `cpu3 10 0 20 ...`: the busy ticks of one of `cpus`, or nothing for other lines.
std::optional<double> busy_ticks(std::string_view line, const std::set<int>& cpus) {
  int cpu = -1;
  const char* const end = line.data() + line.size();
  if (!line.starts_with("cpu") || std::from_chars(line.data() + 3, end, cpu).ec != std::errc() ||
      !cpus.contains(cpu))
    return std::nullopt;
  const std::vector<std::string> fields = split_names(line, " ");
  double busy = 0;
  for (const std::size_t field : {1U, 2U, 3U, 6U, 7U, 8U})  // user nice system irq softirq steal
    if (field < fields.size())
      busy += parse_number(fields[field]).value_or(0);
  return busy;
}

class CpuModel : public PowerSource {
 public:
  CpuModel(const PowerModel& model, const std::filesystem::path& file)
      : model_(model),
        file_(file),
        fd_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)),
        cpus_(allowed_cpus()) {
    const bool whole_node = model.device == PowerModel::Device::node;
    Channel channel;
    channel.name = whole_node ? "model:node" : "model:cpu";
    channel.scope = whole_node ? Scope::node_model : Scope::cpu_model;
    channel.estimated = true;
    channel.counter_period_s = ticks_of_a_step / ticks_per_s_;
    channel.power_limit_w = model.full_w;
    channel.description = fmt::format("estimated: {}..{} W with the utilisation of {} CPUs",
                                      model.idle_w, model.full_w, cpus_.size());
    channels_.push_back(channel);
  }

  void read(std::span<Reading> readings) override {
    std::string text;
    std::array<char, 16384> buffer;
    ssize_t count = 0;
    while ((count = ::pread(fd_.get(), buffer.data(), buffer.size(),
                            static_cast<off_t>(text.size()))) > 0)
      text.append(buffer.data(), static_cast<std::size_t>(count));
    double ticks = 0;
    std::size_t found = 0;
    for (const std::string& line : split(text, "\n"))
      if (const auto busy = busy_ticks(line, cpus_)) {
        ticks += *busy;
        ++found;
      }
    const std::chrono::duration<double> elapsed = Clock::now() - start_;
    if (found == 0)
      readings[0].failure = fmt::format("no usable line in {}", file_.string());
    else
      readings[0].energy_j = model_.idle_w * elapsed.count() + (model_.full_w - model_.idle_w) *
                                                                   ticks / ticks_per_s_ /
                                                                   static_cast<double>(found);
  }

 private:
  PowerModel model_;
  std::filesystem::path file_;
  UniqueFd fd_;
  std::set<int> cpus_;
  Clock::time_point start_ = Clock::now();
  double ticks_per_s_ = static_cast<double>(::sysconf(_SC_CLK_TCK));
};

}  // namespace

std::unique_ptr<PowerSource> open_cpu_model(const PowerModel& model,
                                            const std::filesystem::path& proc) {
  auto source = std::make_unique<CpuModel>(model, proc / "stat");
  Reading reading;
  source->read({&reading, 1});
  if (!reading.energy_j)
    throw Error(Id::no_meter, reading.failure);
  return source;
}

namespace {

class GpuModel : public PowerSource {
 public:
  GpuModel(const PowerModel& model, const NvmlSettings& settings)
      : model_(model), library_(settings.libraries) {
    if (!library_.get_utilization)
      throw Error(Id::no_meter, "the NVIDIA driver reports no utilisation");
    const NvmlDevices found = nvml_devices(library_, settings, "model:gpu", notes_);
    for (const NvmlDevice& device : found.selected)
      add(device);
    for (const ClosedDevice& device : found.closed) {
      unreadable_.push_back(channel_of(device.index));
      unreadable_.back().unreadable = device.reason;
    }
    need_channels("no NVIDIA device to model");
  }

  void read(std::span<Reading> readings) override {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      nvml::Utilization utilization{};
      const int code = library_.get_utilization(devices_[i], &utilization);
      if (code == nvml::success)
        readings[i].power_w =
            model_.idle_w + (model_.full_w - model_.idle_w) * utilization.gpu_percent / 100;
      else
        readings[i].failure = library_.message(code);
    }
  }

 private:
  static Channel channel_of(int index) {
    Channel channel;
    channel.name = fmt::format("model:gpu{}", index);
    channel.scope = Scope::gpu_model;
    channel.device = index;
    channel.estimated = true;
    return channel;
  }

  void add(const NvmlDevice& device) {
    nvml::Utilization utilization{};
    if (const int code = library_.get_utilization(device.handle, &utilization);
        code != nvml::success) {
      notes_.push_back(fmt::format("model:gpu{}: {}", device.index, library_.message(code)));
      unreadable_.push_back(channel_of(device.index));
      unreadable_.back().unreadable = library_.message(code);
      return;
    }
    Channel channel = channel_of(device.index);
    channel.description = fmt::format("estimated: {}..{} W with the utilisation of {}",
                                      model_.idle_w, model_.full_w, device.uuid);
    channel.partly_owned = device.partly_owned;
    channels_.push_back(std::move(channel));
    devices_.push_back(device.handle);
  }

  PowerModel model_;
  NvmlLibrary library_;
  std::vector<nvml::Device> devices_;
};

}  // namespace

std::unique_ptr<PowerSource> open_gpu_model(const PowerModel& model, const NvmlSettings& settings) {
  return std::make_unique<GpuModel>(model, settings);
}

}  // namespace bench::energy
