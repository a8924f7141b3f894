#pragma once

#include <filesystem>

#include <bench/setup/input.hpp>

namespace bench::crate {

/// Whether the directory is an export of `bench export`.
bool is_export(const std::filesystem::path& directory);

/// What repeats the run of an export: its input and the options that it was started with, where
/// `request` has no others. The account is the user's own. Its runs are made in the current
/// directory.
/// @throws Error if the database of the export cannot be read
setup::Request rerun_request(const std::filesystem::path& directory, setup::Request request);

}  // namespace bench::crate
