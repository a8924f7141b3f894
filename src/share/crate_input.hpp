#pragma once

#include "crate_package.hpp"

#include <string>

#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::crate {

/// Paths in an export that are used in several places.
inline constexpr const char* input_directory = "input";
inline constexpr const char* resolved_file = "input/resolved.xml";
inline constexpr const char* run_directory = "run";

/// Path of the original input file in the export; it may have been left out.
std::string input_path_of(const space::Run& run);

/// Adds the resolved input, which `bench run` runs again.
void add_resolved_input(const space::Run& run, Package& package);

/// Adds the other files that a run was made from, where `bench run` finds them beside
/// `resolved_file`: the original input, the sources of file sets, the platform's files and the job
/// templates.
void add_input(const space::Run& run, const std::vector<workspace::Workpackage>& workpackages,
               Package& package);

}  // namespace bench::crate
