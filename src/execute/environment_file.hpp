#pragma once

#include <filesystem>
#include <optional>

#include <bench/base/process.hpp>

namespace bench::execute {

/// Where a command of the workpackage with this directory leaves its environment for the next one.
std::filesystem::path environment_file(const std::filesystem::path& directory);

/// What a command has left there; the file is removed. Nothing if there is none, or half of one, as
/// where the disk was full.
std::optional<Environment> take_environment(const std::filesystem::path& directory);

}  // namespace bench::execute
