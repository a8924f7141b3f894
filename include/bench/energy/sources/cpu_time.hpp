#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

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

}  // namespace bench::energy
