
#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* what, const std::filesystem::path& file) {
  throw Error::of_system(fmt::format("cannot {} {}", what, file.string()), errno);
}

UniqueFd open_or_throw(const std::filesystem::path& file, int flags, const char* what,
                       unsigned mode = 0666) {
  UniqueFd fd(::open(file.c_str(), flags | O_CLOEXEC, mode));
  if (!fd.valid())
    fail(what, file);
  return fd;
}

/// Removes a file unless it has become needless, so that a full disk, say, leaves no half file.
struct Removal {
  explicit Removal(const std::filesystem::path& path) : file(path) {}
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;
  ~Removal() {
    if (needed)
      ::unlink(file.c_str());
  }

  const std::filesystem::path& file;
  bool needed = true;
};

constexpr const char* wildcards = "*?[";

/// `text` as a shell pattern that only it matches.
std::string literally(const std::string& text) {
  std::string pattern;
  for (const char c : text)
    if (std::string_view(wildcards).find(c) != std::string_view::npos)
      pattern.append("[").append(1, c).append("]");
    else
      pattern += c;
  return pattern;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Asks whether a file beside one that does not exist was meant: the same name in another format of
/// input files, or a similar name.
std::string hint_for_absent(const std::filesystem::path& file) {
  std::error_code failure;
  const auto mean = [](const std::filesystem::path& other) {
    return fmt::format("did you mean '{}'?", other.string());
  };
  for (const char* extension : {".yaml", ".yml", ".xml"})
    if (const auto other = std::filesystem::path(file).replace_extension(extension);
        std::filesystem::is_regular_file(other, failure))
      return mean(other);
  std::vector<std::string> stems;
  const auto directory = file.has_parent_path() ? file.parent_path() : ".";
  for (std::filesystem::directory_iterator entry(directory, failure), end; !failure && entry != end;
       entry.increment(failure))
    if (entry->path().extension() == file.extension() && entry->is_regular_file(failure))
      stems.push_back(entry->path().stem().string());
  std::ranges::sort(stems);
  const auto near = closest(file.stem().string(), stems);
  return near ? mean(file.parent_path() / (*near + file.extension().string())) : "";
}

}  // namespace

std::string read_file(const std::filesystem::path& file) {
  return read_limited(file, std::numeric_limits<std::uintmax_t>::max());
}

UniqueFd open_to_read(const std::filesystem::path& file, std::uintmax_t most_bytes) {
  // Looked at first, since to open a device can do something, and a pipe would be waited for.
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) {
    const int reason = errno;
    throw Error::of_system(fmt::format("cannot read {}", file.string()), reason,
                           reason == ENOENT ? hint_for_absent(file) : "");
  }
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
    throw Error(Id::unusable_file,
                fmt::format("cannot read {}: it is not a regular file", file.string()),
                "a pipe or a device cannot stand in for a file here");
  if (static_cast<std::uintmax_t>(info.st_size) > most_bytes)
    throw Error(Id::too_large,
                fmt::format("cannot read {}: it has {} bytes, more than {}", file.string(),
                            info.st_size, most_bytes),
                "is it the file that was meant?");
  return open_or_throw(file, O_RDONLY | O_NONBLOCK | O_NOCTTY, "read");
}

std::string read_limited(const std::filesystem::path& file, std::uintmax_t most_bytes) {
  return read_all(open_to_read(file, most_bytes), file);
}

std::string read_all(const UniqueFd& fd, const std::filesystem::path& file) {
  std::string content;
  // A string that grows needs up to three times the memory on its way.
  struct stat info {};
  if (::fstat(fd.get(), &info) == 0 && info.st_size > 0)
    content.reserve(static_cast<std::size_t>(info.st_size));
  read_pieces(fd, file, [&](std::string_view piece) { content += piece; });
  return content;
}

std::size_t read_piece(const UniqueFd& fd, const std::filesystem::path& file,
                       std::span<char> buffer) {
  ssize_t count = 0;
  do
    count = ::read(fd.get(), buffer.data(), buffer.size());
  while (count < 0 && errno == EINTR);
  if (count < 0)
    fail("read", file);
  return static_cast<std::size_t>(count);
}

void read_pieces(const UniqueFd& fd, const std::filesystem::path& file,
                 const std::function<void(std::string_view)>& take) {
  std::array<char, 65536> buffer;
  while (const std::size_t count = read_piece(fd, file, buffer))
    take(std::string_view(buffer.data(), count));
}

void write_all(const UniqueFd& fd, std::string_view content, const std::filesystem::path& file) {
  while (!content.empty()) {
    const auto count = ::write(fd.get(), content.data(), content.size());
    if (count < 0 && errno != EINTR)
      fail("write", file);
    if (count > 0)
      content.remove_prefix(static_cast<std::size_t>(count));
  }
}

namespace {

constexpr ::off_t most_shown_bytes = 8192;

}  // namespace

std::string start_of_file(const UniqueFd& fd, std::size_t lines) {
  std::string head(static_cast<std::size_t>(most_shown_bytes), '\0');
  const auto count = fd.valid() ? ::pread(fd.get(), head.data(), head.size(), 0) : -1;
  head.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  std::size_t end = 0;
  for (std::size_t k = 0; k < lines && end != std::string::npos; ++k)
    end = head.find('\n', k == 0 ? 0 : end + 1);
  return to_valid_utf8(head.substr(0, lines == 0 ? 0 : end));
}

FileEnd end_of_file(const UniqueFd& fd, std::size_t lines) {
  const ::off_t size = fd.valid() ? ::lseek(fd.get(), 0, SEEK_END) : -1;
  if (size < 0 || lines == 0)
    return {};
  std::string tail(static_cast<std::size_t>(std::min(size, most_shown_bytes)), '\0');
  const auto count =
      ::pread(fd.get(), tail.data(), tail.size(), std::max<::off_t>(0, size - most_shown_bytes));
  tail.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  if (tail.ends_with('\n'))
    tail.pop_back();
  std::size_t begin = tail.size();
  for (std::size_t k = 0; k < lines && begin != std::string::npos; ++k)
    begin = begin == 0 ? std::string::npos : tail.rfind('\n', begin - 1);
  const bool cut = begin != std::string::npos;
  return {.text = to_valid_utf8(cut ? tail.substr(begin + 1) : tail),
          .whole = !cut && size <= most_shown_bytes};
}

void write_file_atomically(const std::filesystem::path& file, std::string_view content,
                           unsigned mode) {
  const std::filesystem::path temporary = file.string() + fmt::format(".{}.tmp", ::getpid());
  // Never through a link that somebody has put under that name.
  ::unlink(temporary.c_str());
  // Errors name the file that the caller wants, not the temporary one.
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!fd.valid())
    fail("write", file);
  Removal removal(temporary);
  write_all(fd, content, file);
  fd = UniqueFd();
  if (::rename(temporary.c_str(), file.c_str()) != 0)
    fail("write", file);
  removal.needed = false;
}

void append_to_file(const std::filesystem::path& file, std::string_view content) {
  write_all(open_or_throw(file, O_WRONLY | O_CREAT | O_APPEND, "write"), content, file);
}

void make_directories(const std::filesystem::path& directory) {
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  if (failure)
    throw Error::of_system(fmt::format("cannot create directory {}", directory.string()),
                           failure.value());
}

DirectoryRemoval::~DirectoryRemoval() {
  std::error_code failed;
  std::filesystem::remove_all(path_, failed);
}

void check_files_can_be_made(const std::filesystem::path& directory) {
  for (std::filesystem::path nearest = directory;; nearest = nearest.parent_path()) {
    const auto itself = (nearest.empty() ? "." : nearest) / ".";  // of a file it is none
    if (::faccessat(AT_FDCWD, itself.c_str(), W_OK | X_OK, AT_EACCESS) == 0)
      return;
    if (errno != ENOENT || nearest == nearest.parent_path())
      throw Error::of_system(fmt::format("cannot make files in {}", directory.string()), errno);
  }
}

std::filesystem::path executable_directory() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

std::filesystem::path find_program(const std::string& program) {
  if (program.find('/') != std::string::npos)
    return program;
  const char* path = std::getenv("PATH");
  for (const std::string& directory : split(path ? path : "/usr/bin:/bin", ":")) {
    std::filesystem::path candidate =
        std::filesystem::path(directory.empty() ? "." : directory) / program;
    std::error_code ignored;
    if (::access(candidate.c_str(), X_OK) == 0 &&
        std::filesystem::is_regular_file(candidate, ignored))
      return candidate;
  }
  return {};
}

std::string expand_user_and_environment(std::string_view text, const VariableLookup& variable) {
  std::string expanded;
  if (text.starts_with("~") && (text.size() == 1 || text[1] == '/'))
    if (const char* home = variable("HOME")) {
      expanded = home;
      text.remove_prefix(1);
    }
  while (!text.empty()) {
    const auto dollar = text.find('$');
    expanded += text.substr(0, dollar);
    if (dollar == std::string_view::npos)
      break;
    text.remove_prefix(dollar);
    const bool braces = text.size() > 1 && text[1] == '{';
    const std::size_t begin = braces ? 2 : 1;
    std::size_t end = begin;
    while (end < text.size() && is_name_character(text[end]))
      ++end;
    const bool closed = !braces || (end < text.size() && text[end] == '}');
    const std::size_t length = braces && closed ? end + 1 : end;
    const std::string name(text.substr(begin, end - begin));
    const char* value = closed && !name.empty() ? variable(name) : nullptr;
    expanded += value ? std::string_view(value) : text.substr(0, length);
    text.remove_prefix(length);
  }
  return expanded;
}

std::string expand_user_and_environment(std::string_view text) {
  return expand_user_and_environment(
      text, [](const std::string& name) { return std::getenv(name.c_str()); });
}

std::vector<std::filesystem::path> files_matching(const std::filesystem::path& directory,
                                                  const std::filesystem::path& pattern) {
  if (pattern.string().find_first_of(wildcards) == std::string::npos) {
    const std::filesystem::path file = (directory / pattern).lexically_normal();
    std::error_code absent;
    if (std::filesystem::exists(std::filesystem::symlink_status(file, absent)))
      return {file};
    return {};
  }
  const auto whole =
      (std::filesystem::path(literally(directory.string())) / pattern).lexically_normal();
  std::vector<std::filesystem::path> files;
  glob_t found{};
  if (::glob(whole.c_str(), GLOB_NOESCAPE, nullptr, &found) == 0)
    for (std::size_t k = 0; k < found.gl_pathc; ++k)
      files.emplace_back(found.gl_pathv[k]);
  ::globfree(&found);
  return files;
}

namespace {

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
