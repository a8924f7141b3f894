#pragma once

#include <filesystem>

#include <bench/base/unique_fd.hpp>

namespace bench {

// For directories that others may write in: what lies there may be a link, a pipe or a device.

/// A regular file, opened to be read without waiting; an invalid descriptor where it is absent,
/// unreadable, or something else.
UniqueFd open_regular_file(const std::filesystem::path& file);

/// As `open_regular_file`, and invalid also where the file really lies outside of `directory`,
/// because a link leads out.
UniqueFd open_below(const std::filesystem::path& directory, const std::filesystem::path& file);

/// Whether `path` is written as one below `directory`.
bool is_written_below(const std::filesystem::path& directory, const std::filesystem::path& path);

/// Before something is written: that no link on the way, nor `path` itself, leads out of
/// `directory`. A path that is written as one outside of it follows no link out, and may be.
/// @throws Error
void refuse_link_out(const std::filesystem::path& directory, const std::filesystem::path& path);

}  // namespace bench
