#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace bench {

/// The whole file as bytes.
/// @throws Error if it cannot be read
std::string read_file(const std::filesystem::path& file);

/// Writes `content` under a temporary name beside `file` and renames it, so that a reader sees the
/// old or the new file and never half of one.
/// @throws Error if it cannot be written
void write_file_atomically(const std::filesystem::path& file, std::string_view content);

/// Appends `content` in one write.
/// @throws Error if it cannot be written
void append_to_file(const std::filesystem::path& file, std::string_view content);

/// Creates the directory with its parents; an existing one is fine.
/// @throws Error if it cannot be created
void make_directories(const std::filesystem::path& directory);

/// The directory of the running executable.
std::filesystem::path executable_directory();

/// Where `program` is found: itself if it has a slash, else the first executable file on PATH;
/// empty where there is none.
std::filesystem::path find_program(const std::string& program);

/// Leading `~` and `$NAME`/`${NAME}` of the environment expanded; unknown names are left as they
/// are.
std::string expand_user_and_environment(std::string_view text);

}  // namespace bench
