#pragma once

#include <optional>
#include <vector>

#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::results {

/// The parameters of the last cycle of a workpackage, if they are others than at first.
std::optional<workspace::Parameters> last_parameters(const space::Run& run,
                                                     const workspace::Workpackage& workpackage);

/// The workpackages with the parameters of their last cycle, which results show. The workspace has
/// those of the first.
std::vector<workspace::Workpackage> in_last_cycle(const space::Run& run,
                                                  std::vector<workspace::Workpackage> workpackages);

}  // namespace bench::results
