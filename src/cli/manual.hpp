#pragma once

#include <filesystem>

#include <CLI/CLI.hpp>

namespace bench::cli {

/// Writes the manual pages of the program, of each of its commands and of `bench-energy`.
/// @throws Error if a file cannot be written
void write_manual(const CLI::App& root, const std::filesystem::path& directory);

}  // namespace bench::cli
