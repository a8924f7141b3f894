#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/base/unique_fd.hpp>

namespace bench {

/// The whole file as bytes.
/// @throws Error if it cannot be read
std::string read_file(const std::filesystem::path& file);

/// `read_file` of a file that somebody names.
/// @throws Error as that does, and if the file has more bytes
std::string read_limited(const std::filesystem::path& file, std::uintmax_t most_bytes);

/// Opens a file of at most so many bytes.
/// @throws Error if it cannot be read, is larger, or is a pipe or a device
UniqueFd open_to_read(const std::filesystem::path& file,
                      std::uintmax_t most_bytes = std::numeric_limits<std::uintmax_t>::max());

/// What is left to read of an open file.
/// @param file its name, for the error
/// @throws Error if it cannot be read
std::string read_all(const UniqueFd& fd, const std::filesystem::path& file);

/// Fills `buffer` with what comes next, or a part of it.
/// @return how many bytes; 0: the file ends here
/// @throws Error if it cannot be read
std::size_t read_piece(const UniqueFd& fd, const std::filesystem::path& file,
                       std::span<char> buffer);

/// Calls `take` with each piece of the rest, for a file that may be larger than the memory.
void read_pieces(const UniqueFd& fd, const std::filesystem::path& file,
                 const std::function<void(std::string_view)>& take);

/// The last lines of a file that may be huge or growing.
struct FileEnd {
  std::string text;   ///< Valid UTF-8, without the newline of the last line.
  bool whole = true;  ///< There is nothing before it.
};

/// At most `lines` lines and 8 KiB; empty where the file cannot be read.
FileEnd end_of_file(const UniqueFd& file, std::size_t lines);
/// The same of its first lines.
std::string start_of_file(const UniqueFd& file, std::size_t lines);

/// Writes `content` under a temporary name beside `file` and renames it, so that a reader sees the
/// old or the new file and never half of one.
/// @param mode of the file, less what the umask takes
/// @throws Error if it cannot be written
void write_file_atomically(const std::filesystem::path& file, std::string_view content,
                           unsigned mode = 0666);

/// Writes all of it to an open file.
/// @param file its name, for the error
/// @throws Error if it cannot be written
void write_all(const UniqueFd& fd, std::string_view content, const std::filesystem::path& file);

/// Appends `content` in one write.
/// @throws Error if it cannot be written
void append_to_file(const std::filesystem::path& file, std::string_view content);

/// Creates the directory with its parents; an existing one is fine.
/// @throws Error if it cannot be created
void make_directories(const std::filesystem::path& directory);

/// Removes a directory, with everything in it, at the end of its own life.
class DirectoryRemoval {
 public:
  explicit DirectoryRemoval(std::filesystem::path path) : path_(std::move(path)) {}
  DirectoryRemoval(const DirectoryRemoval&) = delete;
  DirectoryRemoval& operator=(const DirectoryRemoval&) = delete;
  ~DirectoryRemoval();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Whether files may be made in the directory, or it may be made itself with its parents. Changes
/// nothing, so a full disk does not show.
/// @throws Error if they may not
void check_files_can_be_made(const std::filesystem::path& directory);

/// The directory of the running executable.
std::filesystem::path executable_directory();

/// Where `program` is found: itself if it has a slash, else the first executable file on PATH;
/// empty where there is none.
std::filesystem::path find_program(const std::string& program);

/// The value of a variable, or null.
using VariableLookup = std::function<const char*(const std::string& name)>;

/// Leading `~` and `$NAME`/`${NAME}` of the environment expanded; unknown names are left as they
/// are. Without a lookup the environment is that of this process.
std::string expand_user_and_environment(std::string_view text, const VariableLookup& variable);
std::string expand_user_and_environment(std::string_view text);

/// The existing files that a shell pattern (`* ? [..]`) matches, sorted; a name without a pattern
/// in it matches itself, a dangling link too. A backslash is an ordinary character, as in Python.
/// @param directory where a relative pattern begins; taken literally
std::vector<std::filesystem::path> files_matching(const std::filesystem::path& directory,
                                                  const std::filesystem::path& pattern);

// For directories that others may write in: what lies there may be a link, a pipe or a device.

/// Whether there is something under this name, at the end of links.
/// @throws Error if that cannot be told: a file system that does not answer says nothing of a file
bool is_there(const std::filesystem::path& path);

/// The same of the name itself, which may be that of a dangling link.
bool is_taken(const std::filesystem::path& name);

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

/// Whether `path` is written as one below `directory`.
bool is_written_below(const std::filesystem::path& directory, const std::filesystem::path& path);

/// Before something is written: that no link on the way, nor `path` itself, leads out of
/// `directory`. A path that is written as one outside of it follows no link out, and may be.
/// @throws Error
void refuse_link_out(const std::filesystem::path& directory, const std::filesystem::path& path);

}  // namespace bench
