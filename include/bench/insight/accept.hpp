#pragma once

#include <cstddef>
#include <string>

#include <bench/workspace/run_directory.hpp>

namespace bench::insight {

struct Acceptance {
  std::string fingerprint;  ///< Its short name.
  std::size_t failed = 0;   ///< Workpackages that failed.
};

/// Marks a run as good, so that it is part of the baseline of later runs.
/// @throws Error if it has not finished or no workpackage is done, and if it cannot be written
Acceptance accept(const workspace::RunDirectory& directory);

/// Removes the mark.
/// @throws Error if the run cannot be written
void revoke(const workspace::RunDirectory& directory);

}  // namespace bench::insight
