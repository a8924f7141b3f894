#pragma once

#include <functional>
#include <string>

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

}  // namespace bench::space
