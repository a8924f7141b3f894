#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <bench/base/proc.hpp>
#include <bench/machine/orphans.hpp>
#include <bench/machine/submitters.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {
namespace {

/// A job has the variable of its system; the program that submits it does not.
bool is_in_job(int process) {
  return std::ranges::any_of(system_kinds(), [&](const SystemKind* kind) {
    return kind->job_variable && !variable_of(process, kind->job_variable).empty();
  });
}

}  // namespace

std::map<std::string, std::vector<int>> find_submitters(const std::set<std::string>& submissions) {
  auto found = find_processes("BENCH_SUBMISSION", submissions);
  for (auto& [submission, processes] : found)
    std::erase_if(processes, is_in_job);
  std::erase_if(found, [](const auto& one) { return one.second.empty(); });
  return found;
}

}  // namespace bench::machine
