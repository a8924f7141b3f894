#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <signal.h>

#include <bench/base/error.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/orphans.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {
namespace {

/// The processes of this machine and user whose environment has the variable with one of these
/// values, by value.
std::map<std::string, std::vector<int>> find_processes(const std::string& variable,
                                                       const std::set<std::string>& values) {
  std::map<std::string, std::vector<int>> found;
  if (values.empty())
    return found;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone))
    if (const auto pid = parse_integer(entry.path().filename().string())) {
      const auto process = static_cast<int>(*pid);
      const std::string value = variable_of(process, variable);
      if (values.contains(value) && is_alive(process))
        found[value].push_back(process);
    }
  return found;
}

/// A job has the variable of its system; the program that submits it does not.
bool is_in_job(int process) {
  return std::ranges::any_of(system_kinds(), [&](const SystemKind* kind) {
    return kind->job_variable && !variable_of(process, kind->job_variable).empty();
  });
}

}  // namespace

std::map<std::string, std::vector<int>> find_orphans(const std::set<std::string>& uuids) {
  return find_processes("BENCH_ATTEMPT", uuids);
}

void end_processes(const std::vector<int>& pids) {
  using std::chrono::milliseconds;
  for (const int pid : pids)
    ::kill(pid, SIGKILL);
  for (int round = 0; std::ranges::any_of(pids, is_alive); ++round) {
    if (round == 1000)
      throw Error(Id::program_failed,
                  fmt::format("cannot end process {} of an earlier attempt", pids.front()),
                  "end it yourself, then run `bench continue`");
    std::this_thread::sleep_for(milliseconds(10));
  }
}

std::map<std::string, std::vector<int>> find_submitters(const std::set<std::string>& submissions) {
  auto found = find_processes("BENCH_SUBMISSION", submissions);
  for (auto& [submission, processes] : found)
    std::erase_if(processes, is_in_job);
  std::erase_if(found, [](const auto& one) { return one.second.empty(); });
  return found;
}

}  // namespace bench::machine
