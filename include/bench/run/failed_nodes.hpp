#pragma once

#include <map>
#include <string>
#include <vector>

#include <bench/workspace/workpackage.hpp>

namespace bench::run {

/// The nodes whose failures ended attempts, by workpackage, each node once, the latest last.
/// @param attempts in the order in which they were made
std::map<long long, std::vector<std::string>> failed_nodes(
    const std::vector<workspace::Attempt>& attempts);

/// Those of the failed nodes that a job can do without: the latest ones, as long as the partition
/// has other nodes enough.
/// @param wanted nodes of the job
/// @param all nodes of the partition; 0: unknown
std::vector<std::string> avoidable_nodes(std::vector<std::string> failed, int wanted, int all);

}  // namespace bench::run
