#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>

#include <bench/base/text.hpp>
#include <bench/energy/sources/cpu_time.hpp>
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

}  // namespace bench::energy
