#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include <bench/base/text.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/core/signals.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/sources/cpu_watch.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double used_s(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

/// The path up to `job_1234`; empty without one.
std::string path_of_job(const std::string& path) {
  std::string up_to;
  for (const std::string& part : split_names(path, "/")) {
    up_to += "/" + part;
    if (part.starts_with("job_"))
      return up_to;
  }
  return "";
}

}  // namespace

std::optional<NodeCpuTime> node_cpu_time(std::string_view text, double ticks_per_s) {
  NodeCpuTime time;
  for (const std::string& line : split(text, "\n")) {
    if (!line.starts_with("cpu"))
      break;
    if (!line.starts_with("cpu ")) {
      ++time.cpus;
      continue;
    }
    const std::vector<std::string> fields = split_names(line, " ");
    for (const std::size_t field : {1U, 2U, 3U, 6U, 7U, 8U})
      if (field < fields.size())
        time.busy_s += parse_number(fields[field]).value_or(0) / ticks_per_s;
  }
  return time.cpus > 0 ? std::optional(time) : std::nullopt;
}

std::filesystem::path cpu_file_of_job(std::string_view cgroups,
                                      const std::filesystem::path& sysfs) {
  std::filesystem::path file;
  for (const std::string& line : split(cgroups, "\n")) {
    const std::vector<std::string> fields = split(line, ":");
    if (fields.size() != 3)
      continue;
    const std::string job = path_of_job(fields[2]);
    if (job.empty())
      continue;
    if (fields[1].empty() && file.empty())
      file = sysfs / ("fs/cgroup" + job) / "cpu.stat";
    for (const std::string& controller : split_names(fields[1]))
      if (controller == "cpuacct")
        file = sysfs / "fs/cgroup" / (fields[1] + job) / "cpuacct.usage";
  }
  return file;
}

OwnCpuTime::OwnCpuTime(const std::filesystem::path& proc, const std::filesystem::path& sysfs,
                       bool in_job)
    : in_job_(in_job) {
  if (in_job)
    file_ = cpu_file_of_job(kernel_text(proc / "self/cgroup"), sysfs);
}

std::optional<double> OwnCpuTime::read_s() const {
  if (!in_job_)
    return used_s(RUSAGE_SELF) + used_s(RUSAGE_CHILDREN);
  const std::vector<std::string> words = split_names(first_line(file_.string()), " ");
  if (words.size() == 2 && words[0] == "usage_usec") {
    const auto microseconds = parse_number(words[1]);
    return microseconds ? std::optional(*microseconds * 1e-6) : std::nullopt;
  }
  const auto nanoseconds = words.size() == 1 ? parse_number(words[0]) : std::nullopt;
  return nanoseconds ? std::optional(*nanoseconds * 1e-9) : std::nullopt;
}

namespace {

/// Read in one pass.
constexpr std::size_t most_clocks = 8;
/// Drivers whose first temperature is the package temperature.
constexpr std::array<std::string_view, 4> thermal_drivers{"coretemp", "k10temp", "zenpower",
                                                          "cpu_thermal"};

bool is_cpu(const std::filesystem::path& entry) {
  const std::string name = entry.filename().string();
  return name.size() > 3 &&
         std::all_of(name.begin() + 3, name.end(), [](unsigned char c) { return std::isdigit(c); });
}

}  // namespace

CpuSensors::CpuSensors(const std::filesystem::path& sysfs) {
  std::set<std::string> governors;
  for (const auto& policy : entries(sysfs / "devices/system/cpu/cpufreq", "policy")) {
    if (const std::string governor = first_line(policy / "scaling_governor"); !governor.empty())
      governors.insert(governor);
    if (SysfsNumber clock(policy / "scaling_cur_freq"); clock.exists())
      clocks_.push_back(std::move(clock));
  }
  governor_ = join(std::vector<std::string>(governors.begin(), governors.end()), ",");
  for (const auto& hwmon : entries(sysfs / "class/hwmon", "hwmon"))
    if (std::ranges::count(thermal_drivers, first_line(hwmon / "name")) > 0)
      temperatures_.emplace_back(hwmon / "temp1_input");
  std::set<std::string> packages;
  for (const auto& cpu : entries(sysfs / "devices/system/cpu", "cpu"))
    if (is_cpu(cpu) && packages.insert(first_line(cpu / "topology/physical_package_id")).second)
      if (SysfsNumber count(cpu / "thermal_throttle/package_throttle_count"); count.exists())
        throttles_.push_back(std::move(count));
  throttles_before_ = throttles();
}

std::optional<std::uint64_t> CpuSensors::throttles() const {
  std::optional<std::uint64_t> sum;
  std::string ignored;
  for (const SysfsNumber& file : throttles_)
    if (const auto count = file.read(ignored))
      sum = sum.value_or(0) + *count;
  return sum;
}

void CpuSensors::read(CpuState& state) {
  state.governor = governor_;
  std::string ignored;
  for (std::size_t k = 0; k < std::min(most_clocks, clocks_.size()); ++k) {
    if (const auto clock_khz = clocks_[next_clock_].read(ignored))
      state.clock_mhz.add(static_cast<double>(*clock_khz) / 1000);
    next_clock_ = (next_clock_ + 1) % clocks_.size();
  }
  std::optional<std::uint64_t> hottest;
  for (const SysfsNumber& file : temperatures_)
    if (const auto temperature = file.read(ignored))
      hottest = std::max(hottest.value_or(0), *temperature);
  if (hottest)
    state.temperature_c.add(static_cast<double>(*hottest) / 1000);
}

void CpuSensors::close(CpuState& state) const {
  const auto now = throttles();
  if (now && throttles_before_ && *now >= *throttles_before_)
    state.throttled = *now - *throttles_before_;
}

namespace {

constexpr std::chrono::milliseconds first_read_after{50};
constexpr std::chrono::seconds time_between_reads{1};
/// The kernel accounts CPU time in ticks; less than this may be rounding.
constexpr double least_others_s = 0.2;
/// Over a longer time, rounding is negligible.
constexpr double shortest_run_s = 2;

std::optional<NodeCpuTime> node_now(const std::filesystem::path& proc) {
  std::ifstream file(proc / "stat");  // on a large node longer than a page
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return node_cpu_time(text, static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

}  // namespace

CpuWatch::~CpuWatch() {
  stop();
}

void CpuWatch::begin() {
  begin_ = Clock::now();
  node_before_ = node_now(proc_);
  own_.emplace(proc_, sysfs_, in_job_);
  own_before_s_ = own_->read_s();
  const std::string load = kernel_text(proc_ / "loadavg");
  state_.load = parse_number(load.substr(0, load.find(' ')));
  start_blocked(thread_, [this] { watch(); });  // without it there are no clocks and temperatures
}

void CpuWatch::watch() {
  over_.wait_until(begin_ + first_read_after);
  if (over_.has_happened())
    return;
  try {
    CpuSensors sensors(sysfs_);
    for (auto next = Clock::now(); !over_.has_happened(); over_.wait_until(next)) {
      sensors.read(state_);
      next += time_between_reads;
    }
    sensors.close(state_);
  } catch (const std::exception&) {  // out of memory: the rest is missing
  }
}

void CpuWatch::stop() {
  over_.happen();
  if (thread_.joinable())
    thread_.join();
}

CpuState CpuWatch::end() {
  const double duration_s = std::chrono::duration<double>(Clock::now() - begin_).count();
  const auto node = node_now(proc_);
  const auto own_s = own_ ? own_->read_s() : std::nullopt;
  stop();
  if (!node)
    return state_;
  state_.cpus = node->cpus;
  if (!node_before_ || !own_s || !own_before_s_)
    return state_;
  const double others_s = (node->busy_s - node_before_->busy_s) - (*own_s - *own_before_s_);
  if (others_s >= least_others_s)
    state_.other_cpus = others_s / duration_s;
  else if (duration_s >= shortest_run_s)
    state_.other_cpus = 0;
  return state_;
}

}  // namespace bench::energy
