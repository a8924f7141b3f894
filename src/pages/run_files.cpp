#include "run_files.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::pages {

namespace fs = std::filesystem;

namespace {

/// Whether a path is relative, normalised and without `..`.
bool is_plain(const std::string& path) {
  const fs::path written(path);
  return !path.empty() && path.find('\0') == std::string::npos && written.is_relative() &&
         path == written.lexically_normal().generic_string() && *written.begin() != ".." &&
         *written.begin() != "." && written.has_filename();
}

}  // namespace

UniqueFd open_in_run(const fs::path& run_directory, const std::string& path) {
  return is_plain(path) ? open_below(run_directory, run_directory / path) : UniqueFd();
}

std::uint64_t bytes_of(const UniqueFd& file) {
  struct stat info {};
  return ::fstat(file.get(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

Tail tail_of(const UniqueFd& file, std::size_t most_bytes) {
  Tail tail;
  tail.bytes = bytes_of(file);
  const std::size_t wanted = std::min<std::uint64_t>(tail.bytes, most_bytes);
  tail.is_whole = wanted == tail.bytes;
  tail.text.resize(wanted);
  const auto begin = static_cast<off_t>(tail.bytes - wanted);
  std::size_t read = 0;
  while (read < wanted) {
    const ssize_t got = ::pread(file.get(), tail.text.data() + read, wanted - read,
                                begin + static_cast<off_t>(read));
    if (got <= 0)
      break;
    read += static_cast<std::size_t>(got);
  }
  tail.text.resize(read);
  if (!tail.is_whole)
    if (const auto line = tail.text.find('\n'); line != std::string::npos)
      tail.text.erase(0, line + 1);
  return tail;
}

FileList files_in_run(const fs::path& run_directory, const std::string& directory) {
  constexpr std::size_t most_files = 500;
  constexpr std::size_t most_entries = 5000;
  FileList list;
  std::size_t seen = 0;
  std::error_code failed;
  const fs::path start = (run_directory / directory).lexically_normal();
  if (!is_plain(directory) ||
      fs::canonical(start, failed) != fs::canonical(run_directory, failed) / directory)
    return list;
  for (fs::recursive_directory_iterator entry(start, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (list.files.size() == most_files || ++seen > most_entries) {
      list.is_cut_short = true;
      break;
    }
    struct stat info {};
    if (::lstat(entry->path().c_str(), &info) == 0 && S_ISREG(info.st_mode))
      list.files.push_back({entry->path().lexically_relative(run_directory).generic_string(),
                            static_cast<std::uint64_t>(info.st_size)});
  }
  std::ranges::sort(list.files, {}, &FileEntry::path);
  return list;
}

std::string size_text(std::uint64_t bytes) {
  constexpr double thousand = 1000;
  if (bytes < 1000)
    return fmt::format("{} bytes", bytes);
  double size = static_cast<double>(bytes) / thousand;
  for (const char* unit : {"kB", "MB", "GB"}) {
    if (size < thousand)
      return fmt::format("{:.1f} {}", size, unit);
    size /= thousand;
  }
  return fmt::format("{:.1f} TB", size);
}

}  // namespace bench::pages
