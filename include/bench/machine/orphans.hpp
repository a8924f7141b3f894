#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace bench::machine {

/// The processes of this machine and user that carry one of these attempts in their environment
/// (BENCH_ATTEMPT), by attempt: what an earlier bench started and left running when it was killed.
std::map<std::string, std::vector<int>> find_orphans(const std::set<std::string>& uuids);

/// Kills the processes and waits until they are gone, 10 s at most.
/// @throws Error if one does not end
void end_processes(const std::vector<int>& pids);

/// The processes of this machine and user that hand one of these submissions to a batch system
/// (BENCH_SUBMISSION), by submission: not the jobs themselves, which inherit it.
std::map<std::string, std::vector<int>> find_submitters(const std::set<std::string>& submissions);

}  // namespace bench::machine
