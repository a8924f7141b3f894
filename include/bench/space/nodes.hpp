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

/// The nodes whose failures ended attempts of each workpackage: each node once, the latest last.
/// @param attempts in order of time
std::map<long long, std::vector<std::string>> failed_nodes(
    const std::vector<workspace::Attempt>& attempts);

/// The failed nodes that a job can avoid: the latest ones, as long as the partition has enough
/// others.
/// @param wanted number of nodes of the job
/// @param all number of nodes of the partition; 0 if it is unknown
std::vector<std::string> avoidable_nodes(std::vector<std::string> failed, int wanted, int all);

}  // namespace bench::space
