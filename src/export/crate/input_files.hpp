#pragma once

#include "package.hpp"

#include <string>

#include <bench/setup/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::crate {

/// Paths of an export that several of its parts name.
inline constexpr const char* input_directory = "input";
inline constexpr const char* resolved_file = "input/resolved.xml";
inline constexpr const char* run_directory = "run";

/// Where the input file as it was read is in the export; it may have been left out.
std::string input_path_of(const setup::Run& run);

/// Adds the input as it was resolved, which is what `bench run` runs again.
void add_resolved_input(const setup::Run& run, Package& package);

/// Adds what else a run was made from, in the places where `bench run` looks for it beside
/// `resolved_file`: the input as it was read, the sources of file sets, the platform's files and
/// the job templates.
void add_input(const setup::Run& run, const std::vector<workspace::Workpackage>& workpackages,
               Package& package);

}  // namespace bench::crate
