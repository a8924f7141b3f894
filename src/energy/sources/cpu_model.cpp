#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
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
#include <bench/energy/core/scope.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/sources/cpu_model.hpp>
#include <bench/energy/sources/model.hpp>

namespace bench::energy {
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
    throw Error(reading.failure);
  return source;
}

}  // namespace bench::energy
