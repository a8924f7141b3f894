#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/process.hpp>

namespace bench::machine {

/// Directories with programs that commands find by name: bench-energy and the step programs.
const std::vector<std::filesystem::path>& program_directories();

/// This process's environment with the programs of bench on PATH. Every command starts from it.
const Environment& base_environment();

/// The differences between `environment` and the base, without variables of a single shell (PWD,
/// SHLVL, ...).
EnvironmentChanges changes_of(const Environment& environment);

/// Saves digests of the base environment in the directory of a workpackage.
void keep_base(const std::filesystem::path& directory);

/// The differences between `environment`, if there is one, and the base that was saved there, which
/// is removed; without a saved base as `changes_of`. Without the saved base, a bench that takes
/// over an attempt of an earlier one would record the whole environment of that one, secrets
/// included.
EnvironmentChanges changes_since_base(const std::filesystem::path& directory,
                                      const std::optional<Environment>& environment);

/// Removes the environment files of an interrupted attempt from the directory of a workpackage:
/// they may hold secrets, and the next attempt must not read them.
void forget_environment(const std::filesystem::path& directory);

/// Where a command of the workpackage with this directory leaves its environment for the next one.
std::filesystem::path environment_file(const std::filesystem::path& directory);

/// What a command has left there; the file is removed. Nothing if there is none, or half of one, as
/// where the disk was full.
std::optional<Environment> take_environment(const std::filesystem::path& directory);

/// The shell that executes the commands of steps, in job scripts too: JUBE_EXEC_SHELL, else
/// /bin/sh.
std::string command_shell();

/// A script for this shell that executes the text in its first argument as one command.
/// @param left file for the environment that the command leaves if it succeeds; empty: none. A
///     command that ends with `exit` or `exec` leaves none.
/// @param last_words lines for its end, where `bench_status` is the exit code
std::string command_script(const std::filesystem::path& left, const std::string& last_words = "");

/// Makes the changes in `environment`.
void apply(const EnvironmentChanges& changes, Environment& environment);

/// The changes as commands of a POSIX shell, a line each. Left out are names that no shell can set,
/// at which some shells end (is_shell_name).
std::string shell_commands(const EnvironmentChanges& changes);

}  // namespace bench::machine
