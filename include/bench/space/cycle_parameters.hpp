#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

/// Keeps the parameters of a later cycle in the directory of the workpackage. The workspace has
/// those of the first one, with which it would begin again; results show those of the last.
void keep_cycle_parameters(const std::filesystem::path& directory,
                           const workspace::Parameters& parameters);

/// The parameters that were kept last; empty where none were.
workspace::Parameters kept_cycle_parameters(const std::filesystem::path& directory);

/// The parameters of the last cycle of a workpackage, if they are others than at first.
std::optional<workspace::Parameters> last_parameters(const Run& run,
                                                     const workspace::Workpackage& workpackage);

/// The workpackages with the parameters of their last cycle, which results show; the workspace has
/// the parameters of the first cycle.
std::vector<workspace::Workpackage> in_last_cycle(const Run& run,
                                                  std::vector<workspace::Workpackage> workpackages);

}  // namespace bench::space
