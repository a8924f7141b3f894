#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace bench::energy {

/// CPU time since the node was started, in seconds, of all CPUs together.
struct NodeCpuTime {
  double busy_s = 0;
  int cpus = 0;
};

/// Reads the text of /proc/stat: user, nice, system, irq, softirq and steal are busy, waiting for a
/// disk is not. Source: Linux Documentation/filesystems/proc.rst, 1.7.
std::optional<NodeCpuTime> node_cpu_time(std::string_view text, double ticks_per_s);

/// Where the CPU time of what is measured is counted.
///
/// Outside of a batch job it is that of this process and of the children that it and they have
/// waited for. In a job a launcher's daemon starts the program, which is nobody's child here, so
/// that the job's control group counts.
class OwnCpuTime {
 public:
  /// @param in_job whether a batch system or a launcher has started this process
  OwnCpuTime(const std::filesystem::path& proc, const std::filesystem::path& sysfs, bool in_job);

  /// In seconds; nothing where nobody counts it.
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
