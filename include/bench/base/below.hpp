#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <bench/base/unique_fd.hpp>

namespace bench {

// For directories that others may write in: what lies there may be a link, a pipe or a device.

/// Whether there is something under this name, at the end of links.
/// @throws Error if that cannot be told: a file system that does not answer says nothing of a file
bool is_there(const std::filesystem::path& path);

/// The same of the name itself, which may be that of a dangling link.
bool is_taken(const std::filesystem::path& name);

/// `read_file` of a file that somebody names.
/// @throws Error as that does, and if the file has more bytes
std::string read_limited(const std::filesystem::path& file, std::uintmax_t most_bytes);

/// A regular file, opened to be read without waiting; an invalid descriptor where it is absent,
/// unreadable, or something else.
UniqueFd open_regular_file(const std::filesystem::path& file);

/// As `open_regular_file`, and invalid also where the file really lies outside of `directory`,
/// because a link leads out.
UniqueFd open_below(const std::filesystem::path& directory, const std::filesystem::path& file);

/// A file to write, made if it is missing. In a path that is written as one below `directory` no
/// link is followed that leads out, nor one under the name of the file, and the file is a regular
/// one: what commands have put there instead is refused. Never waits for the reader of a pipe.
/// @param how O_APPEND or O_TRUNC
/// @throws Error
UniqueFd open_to_write(const std::filesystem::path& directory, const std::filesystem::path& file,
                       int how);

/// Writes all of it to an open file.
/// @param file its name, for the error
/// @throws Error if it cannot be written
void write_all(const UniqueFd& fd, std::string_view content, const std::filesystem::path& file);

/// Whether `path` is written as one below `directory`.
bool is_written_below(const std::filesystem::path& directory, const std::filesystem::path& path);

/// Before something is written: that no link on the way, nor `path` itself, leads out of
/// `directory`. A path that is written as one outside of it follows no link out, and may be.
/// @throws Error
void refuse_link_out(const std::filesystem::path& directory, const std::filesystem::path& path);

}  // namespace bench
