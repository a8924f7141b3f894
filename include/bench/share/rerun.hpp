#pragma once

#include <filesystem>

#include <bench/space/input.hpp>

namespace bench::crate {

/// Whether `bench export` wrote the directory.
bool is_export(const std::filesystem::path& directory);

/// The request that repeats an exported run: its input, and its recorded options unless `request`
/// overrides them. The account is always the user's own. Runs are created in the current directory.
/// @throws Error if the database of the export cannot be read
setup::Request rerun_request(const std::filesystem::path& directory, setup::Request request);

}  // namespace bench::crate
