#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bench/base/below.hpp>
#include <bench/base/error.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench {
namespace {

namespace fs = std::filesystem;

/// @param path absolute and normal, like `directory`
bool begins_with(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) &&
         (path.size() == directory.size() || directory == "/" || path[directory.size()] == '/');
}

/// Absolute, without `.` and `..`, and without the slash at the end of a directory.
std::string written(const fs::path& path) {
  const std::string& text = path.native();
  // Mostly it is that already, and std::filesystem would take it apart and put it together again.
  if (text.starts_with('/') && !text.ends_with('/') && text.find("/.") == std::string::npos &&
      text.find("//") == std::string::npos)
    return text;
  const fs::path normal = fs::absolute(path).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

/// Where an open file really lies; empty if the kernel does not tell.
std::string place_of(const UniqueFd& fd) {
  std::array<char, PATH_MAX> place;
  const auto size =
      ::readlink(fmt::format("/proc/self/fd/{}", fd.get()).c_str(), place.data(), place.size());
  return {place.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

[[noreturn]] void refuse(const fs::path& directory, const fs::path& path) {
  throw Error(Id::unusable_file,
              fmt::format("{} leads out of {} through a link", path.string(), directory.string()),
              "bench writes and deletes through no link that leads out of a run directory");
}

/// @param result of a call like stat(2)
bool is_found(int result, const std::filesystem::path& path) {
  if (result != 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
    throw Error::of_system(fmt::format("cannot look for {}", path.string()), errno);
  return result == 0;
}

}  // namespace

bool is_there(const std::filesystem::path& path) {
  struct stat info {};
  return is_found(::stat(path.c_str(), &info), path);
}

bool is_taken(const std::filesystem::path& name) {
  struct stat info {};
  return is_found(::lstat(name.c_str(), &info), name);
}

UniqueFd open_regular_file(const fs::path& file) {
  // Looked at first, since to open a device can do something; and again once it is open, since it
  // may have been replaced. O_NONBLOCK: a pipe that nobody writes to is opened anyway.
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return {};
  UniqueFd fd(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return {};
  return fd;
}

UniqueFd open_below(const fs::path& directory, const fs::path& file) {
  UniqueFd fd = open_regular_file(file);
  if (!fd.valid())
    return {};
  std::error_code failed;
  const fs::path root = fs::canonical(directory, failed);
  if (failed)
    return {};
  // Where the open file lies, so that nobody can change a link between the question and the answer.
  if (!begins_with(place_of(fd), root.native()))
    return {};
  return fd;
}

UniqueFd open_to_write(const fs::path& directory, const fs::path& file, int how) {
  constexpr int for_directory = O_PATH | O_DIRECTORY | O_CLOEXEC;
  const bool is_own = is_written_below(directory, file);
  const auto fail = [&] {
    throw Error::of_system(fmt::format("cannot write {}", file.string()), errno);
  };
  // Both by their descriptors, so that nobody can put a link there between question and answer.
  const fs::path above = file.parent_path();
  const UniqueFd parent(::open(above.c_str(), for_directory));
  if (!parent.valid())
    fail();
  const std::string place = is_own ? place_of(parent) : "";
  if (is_own && place != written(above)) {  // a link is on the way
    const UniqueFd root(::open(directory.c_str(), for_directory));
    if (!root.valid())
      fail();
    if (place.empty() || !begins_with(place, place_of(root)))
      refuse(directory, file);
  }
  UniqueFd fd(::openat(
      parent.get(), file.filename().c_str(),
      O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | how | (is_own ? O_NOFOLLOW : 0),
      0666));
  if (!fd.valid() && is_own && errno == ELOOP)
    throw Error(Id::unusable_file, fmt::format("cannot write {}: it is a link", file.string()),
                "a command has replaced it; bench follows no links there");
  struct stat info {};
  const bool refused = !fd.valid() && errno == ENXIO;  // a pipe without a reader
  if (!refused && (!fd.valid() || ::fstat(fd.get(), &info) != 0))
    fail();
  if (refused || (is_own && !S_ISREG(info.st_mode)))
    throw Error(Id::unusable_file,
                fmt::format("cannot write {}: it is not a regular file", file.string()),
                "a command has put a pipe or a device there");
  ::fcntl(fd.get(), F_SETFL, how & O_APPEND);  // a child that inherits it expects writes to wait
  return fd;
}

bool is_written_below(const fs::path& directory, const fs::path& path) {
  return begins_with(written(path), written(directory));
}

void refuse_link_out(const fs::path& directory, const fs::path& path) {
  if (!is_written_below(directory, path))
    return;
  constexpr int most_hops = 40;
  std::error_code failed;
  std::error_code absent;
  fs::path real = fs::weakly_canonical(path, failed);
  // What a dangling link leads to would be made there.
  for (int hop = 0; hop < most_hops && !failed && fs::is_symlink(real, absent); ++hop)
    real = fs::weakly_canonical(real.parent_path() / fs::read_symlink(real, failed), failed);
  const fs::path root = failed ? fs::path() : fs::weakly_canonical(directory, failed);
  if (failed)
    throw Error::of_system(fmt::format("cannot look for {}", path.string()), failed.value());
  if (!begins_with(real.native(), root.native()))
    refuse(directory, path);
}

}  // namespace bench
