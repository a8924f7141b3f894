#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include <bench/base/process.hpp>

namespace bench::execute {

/// Directories with programs that commands find by name: bench-energy and the step programs.
const std::vector<std::filesystem::path>& program_directories();

/// This process's environment, with the programs that belong to bench on PATH: what every command
/// starts from.
const Environment& base_environment();

/// How `environment` differs from the base, without what describes one shell only (PWD, SHLVL,
/// ...).
EnvironmentChanges changes_of(const Environment& environment);

/// Keeps in the directory of a workpackage what its commands start from, as digests.
void keep_base(const std::filesystem::path& directory);

/// How `environment`, if there is one, differs from the base that was kept there, which is removed;
/// without a base as `changes_of`. A bench that takes in what one before it has started would else
/// find all of that one's environment to be different, and keep it with what is secret in it.
EnvironmentChanges changes_since_base(const std::filesystem::path& directory,
                                      const std::optional<Environment>& environment);

/// Removes what an attempt that was cut off has left in the directory of a workpackage: it may be
/// secret, and is no environment of the next attempt.
void forget_environment(const std::filesystem::path& directory);

/// Makes the changes in `environment`.
void apply(const EnvironmentChanges& changes, Environment& environment);

}  // namespace bench::execute
