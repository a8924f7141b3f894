#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <fmt/core.h>
#include <signal.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/schedule/orphans.hpp>

namespace bench::schedule {
namespace {

/// A file of a process, or nothing: a process may go while it is looked at, or be another user's.
std::string read_process_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Running, that is, neither gone nor a zombie that nobody has reaped.
bool alive(int pid) {
  const std::string stat = read_process_file(fmt::format("/proc/{}/stat", pid));
  // The state follows the command name, which stands in parentheses and may hold any character.
  const auto end = stat.rfind(')');
  return end != std::string::npos && end + 2 < stat.size() && stat[end + 2] != 'Z';
}

/// What a variable of a process was when it started; empty for processes of other users.
std::string variable_of(const std::filesystem::path& process, const std::string& name) {
  const std::string marker = name + "=";
  const std::string environment = read_process_file(process / "environ");
  for (const std::string& entry : split(environment, std::string_view("\0", 1)))
    if (entry.starts_with(marker))
      return entry.substr(marker.size());
  return "";
}

/// The living processes for which the variable is one of these values, by value.
template <class Filter>
std::map<std::string, std::vector<int>> find_processes(const std::string& variable,
                                                       const std::set<std::string>& values,
                                                       Filter filter) {
  std::map<std::string, std::vector<int>> found;
  if (values.empty())
    return found;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone))
    if (const auto pid = parse_integer(entry.path().filename().string())) {
      const std::string value = variable_of(entry.path(), variable);
      if (values.contains(value) && filter(entry.path()) && alive(static_cast<int>(*pid)))
        found[value].push_back(static_cast<int>(*pid));
    }
  return found;
}

}  // namespace

std::map<std::string, std::vector<int>> find_orphans(const std::set<std::string>& uuids) {
  return find_processes("BENCH_ATTEMPT", uuids, [](const auto&) { return true; });
}

std::map<std::string, std::vector<int>> find_submitters(const std::set<std::string>& submissions) {
  // A job has SLURM_JOB_ID or its like; the program that submits it has been cleaned of it.
  return find_processes("BENCH_SUBMISSION", submissions, [](const auto& process) {
    constexpr std::array<const char*, 6> of_jobs{"SLURM_JOB_ID", "LSB_JOBID", "PBS_JOBID",
                                                 "COBALT_JOBID", "PJM_JOBID", "JOB_ID"};
    return std::ranges::all_of(
        of_jobs, [&](const char* name) { return variable_of(process, name).empty(); });
  });
}

bool any_alive(const std::vector<int>& pids) {
  for (const int pid : pids)
    if (alive(pid))
      return true;
  return false;
}

void end_processes(const std::vector<int>& pids) {
  using std::chrono::milliseconds;
  for (const int pid : pids)
    ::kill(pid, SIGKILL);
  for (int round = 0; any_alive(pids); ++round) {
    if (round == 1000)
      throw Error(fmt::format("process {} of an earlier attempt cannot be ended", pids.front()),
                  "end it by hand, then `bench continue`");
    std::this_thread::sleep_for(milliseconds(10));
  }
}

}  // namespace bench::schedule
