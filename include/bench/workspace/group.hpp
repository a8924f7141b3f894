#pragma once

#include <filesystem>

namespace bench::workspace {

/// Where the environment has JUBE_GROUP_NAME, lets the group write what this process and its
/// commands make from now on: umask 002, as in JUBE. Without it the umask stays the user's.
void apply_group_umask();

/// Gives a new directory to the group of JUBE_GROUP_NAME, and with the setgid bit what is made in
/// it. Does nothing where that is not set.
/// @throws Error if there is no such group, or the user is not in it
void give_to_group(const std::filesystem::path& directory);

/// As `give_to_group` would throw, before anything is made.
void check_group();

}  // namespace bench::workspace
