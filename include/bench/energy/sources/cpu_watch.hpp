#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {

/// CPU time of all CPUs together since the node booted, in seconds.
struct NodeCpuTime {
  double busy_s = 0;
  int cpus = 0;
};

/// Parses /proc/stat: user, nice, system, irq, softirq and steal count as busy, iowait does not.
/// Source: Linux Documentation/filesystems/proc.rst, 1.7.
std::optional<NodeCpuTime> node_cpu_time(std::string_view text, double ticks_per_s);

/// The CPU time of the measured program.
///
/// Outside of a batch job, that of this process and its waited-for descendants. In a job, a
/// launcher's daemon starts the program, which is not a descendant of this process, so the job's
/// control group counts.
class OwnCpuTime {
 public:
  /// @param in_job whether a batch system or a launcher has started this process
  OwnCpuTime(const std::filesystem::path& proc, const std::filesystem::path& sysfs, bool in_job);

  /// In seconds; nothing if it is not available.
  std::optional<double> read_s() const;

 private:
  bool in_job_;
  std::filesystem::path file_;  ///< Of the job's control group; empty: it has none.
};

/// The file that counts the CPU time of a Slurm job's control group, by the text of
/// /proc/self/cgroup: `cpu.stat` of version 2, `cpuacct.usage` of version 1; empty outside of one.
/// Source: cgroups(7); Slurm's cgroup.conf(5).
std::filesystem::path cpu_file_of_job(std::string_view cgroups, const std::filesystem::path& sysfs);

/// Readings of the processors from sysfs: governors, clocks, temperatures, and throttling events of
/// packages. Sources: Linux Documentation/admin-guide/pm/cpufreq.rst,
/// Documentation/hwmon/coretemp.rst and k10temp.rst.
class CpuSensors {
 public:
  /// Reads governors and throttling counts, and finds the sensors.
  explicit CpuSensors(const std::filesystem::path& sysfs);

  /// Adds a reading of every temperature and of some clocks: reading a clock interrupts the CPU, so
  /// not all are read at once.
  void read(CpuState& state);
  /// Reads the throttling counts again.
  void close(CpuState& state) const;

 private:
  std::optional<std::uint64_t> throttles() const;

  std::vector<SysfsNumber> clocks_;        ///< kHz, one per frequency domain.
  std::vector<SysfsNumber> temperatures_;  ///< Thousandths of a degree Celsius.
  std::vector<SysfsNumber> throttles_;     ///< One per package.
  std::string governor_;
  std::optional<std::uint64_t> throttles_before_;
  std::size_t next_clock_ = 0;
};

/// Samples the processors of the node while a program runs: once a second in its own thread,
/// beginning 50 ms after the start, so that it delays neither the start nor a short program.
class CpuWatch {
 public:
  /// @param in_job as `OwnCpuTime` has it
  CpuWatch(std::filesystem::path proc, std::filesystem::path sysfs, bool in_job)
      : proc_(std::move(proc)), sysfs_(std::move(sysfs)), in_job_(in_job) {}
  CpuWatch(const CpuWatch&) = delete;
  CpuWatch& operator=(const CpuWatch&) = delete;
  ~CpuWatch();

  /// Called when the program has started.
  void begin();
  /// Called when the program has ended and its CPU time is known.
  CpuState end();

 private:
  void watch();
  void stop();

  std::filesystem::path proc_;
  std::filesystem::path sysfs_;
  bool in_job_;
  std::optional<OwnCpuTime> own_;
  std::optional<NodeCpuTime> node_before_;
  std::optional<double> own_before_s_;
  Clock::time_point begin_;
  CpuState state_;  ///< The thread's, while it runs.
  Event over_;
  std::thread thread_;
};

}  // namespace bench::energy
