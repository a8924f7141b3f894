#pragma once

#include <string>

#include <bench/base/unique_fd.hpp>

namespace bench::energy {

/// Reserves a name on this node for this process, until the descriptor is closed or the process
/// ends, however that is. Processes in another network namespace, such as that of a container, do
/// not see it.
/// @returns an invalid descriptor if another process has the name
/// @throws bench::Error if names cannot be reserved here
UniqueFd reserve_node_name(const std::string& name);

}  // namespace bench::energy
