#pragma once

#include <string>

#include <bench/insight/run_view.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::inspect {

/// On which nodes a ready workpackage of a step with `same_nodes` will run, as far as another one
/// decides that; else empty.
std::string same_nodes_text(const setup::Run& run, const RunView& view,
                            const workspace::Workpackage& workpackage);

}  // namespace bench::inspect
