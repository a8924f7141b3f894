#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

/// Equal for the workpackages of a step with `same_nodes` that get the same nodes: the number of
/// nodes, their partition and constraint.
/// @param substitute inserts the parameters of a workpackage
std::string same_nodes_key(const model::Batch& batch,
                           const std::function<std::string(const std::string&)>& substitute);

/// The nodes on which the latest attempt of a workpackage began, as the batch system lists them;
/// empty: it has not begun, or the batch system did not tell.
std::string nodes_of(const Run& run, const workspace::Workpackage& workpackage);

/// The nodes whose failures ended attempts, by workpackage, each node once, the latest last.
/// @param attempts in the order in which they were made
std::map<long long, std::vector<std::string>> failed_nodes(
    const std::vector<workspace::Attempt>& attempts);

/// Those of the failed nodes that a job can do without: the latest ones, as long as the partition
/// has other nodes enough.
/// @param wanted nodes of the job
/// @param all nodes of the partition; 0: unknown
std::vector<std::string> avoidable_nodes(std::vector<std::string> failed, int wanted, int all);

}  // namespace bench::space
