#pragma once

#include <filesystem>

#include <bench/workspace/workpackage.hpp>

namespace bench::space {

/// Keeps the parameters of a later cycle in the directory of the workpackage. The workspace has
/// those of the first one, with which it would begin again; results show those of the last.
void keep_cycle_parameters(const std::filesystem::path& directory,
                           const workspace::Parameters& parameters);

/// The parameters that were kept last; empty where none were.
workspace::Parameters kept_cycle_parameters(const std::filesystem::path& directory);

}  // namespace bench::space
