#pragma once

#include <string>
#include <string_view>

#include <bench/base/outcome.hpp>

namespace bench::machine {

/// Whether an end of this kind may be the fault of one node.
bool may_be_fault_of_node(Outcome outcome);

/// The reason of an attempt that a node's failure has ended: `node n1 failed: ...`. The workspace
/// keeps it, and retries avoid the node.
std::string reason_with_node(const std::string& node, const std::string& reason);

/// The node in such a reason; empty for another one.
std::string node_in_reason(std::string_view reason);

}  // namespace bench::machine
