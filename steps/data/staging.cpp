#include "data/staging.hpp"

#include "data/files.hpp"
#include "harness/errors.hpp"
#include "harness/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

namespace bench::steps {
namespace {

namespace fs = std::filesystem;

std::string message_of(int error) {
  return std::generic_category().message(error);
}

/// A folder that goes with this object, unless it was given its final name.
class PartialCopy {
 public:
  explicit PartialCopy(fs::path path) : path_(std::move(path)) {
    fs::remove_all(path_);  // of somebody who was interrupted: who still copies holds the lock
    fs::create_directory(path_);
  }
  PartialCopy(const PartialCopy&) = delete;
  PartialCopy& operator=(const PartialCopy&) = delete;
  ~PartialCopy() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  const fs::path& path() const { return path_; }

  void complete(const fs::path& name) {
    // Else a node that crashes could keep the name and lose what stands behind it.
    const Descriptor folder = open_path(path_.string(), O_RDONLY | O_DIRECTORY);
    if (::syncfs(folder.get()) != 0)
      throw std::runtime_error(
          fmt::format("cannot write {} to its end: {}", path_.string(), message_of(errno)));
    fs::rename(path_, name);
  }

 private:
  fs::path path_;
};

struct Entry {
  std::uint64_t bytes = 0;
  std::int64_t changed = 0;  ///< In ticks of the file system's clock.
};

std::vector<Entry> entries_of(const fs::path& from, const FileList& list, int threads) {
  std::vector<Entry> entries(list.files.size());
  for_each_index(entries.size(), threads, [&](std::size_t i) {
    const fs::path file = from / list.files[i];
    entries[i] = {fs::file_size(file), fs::last_write_time(file).time_since_epoch().count()};
  });
  return entries;
}

/// Every text ends with a null byte, so that no two lists run together.
std::uint64_t hash_of_all(const std::vector<std::string>& texts) {
  std::uint64_t hash = hash_of("");
  for (const std::string& text : texts)
    hash = hash_of({text.c_str(), text.size() + 1}, hash);
  return hash;
}

std::string copy_name(const fs::path& from, const FileList& list,
                      const std::vector<Entry>& entries) {
  std::vector<std::string> texts{from.string()};
  texts.insert(texts.end(), list.folders.begin(), list.folders.end());
  for (std::size_t i = 0; i < entries.size(); ++i)
    texts.push_back(fmt::format("{} {} {}", list.files[i], entries[i].bytes, entries[i].changed));
  return fmt::format("{}-{:016x}", from.filename().string(), hash_of_all(texts));
}

/// A cleaner of temporary files may have taken parts of a copy that was complete.
bool is_complete(const fs::path& copy, const FileList& list, const std::vector<Entry>& entries) {
  for (const std::string& folder : list.folders)
    if (!fs::is_directory(copy / folder))
      return false;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::error_code absent;
    if (fs::file_size(copy / list.files[i], absent) != entries[i].bytes)
      return false;
  }
  return true;
}

void check_space(const fs::path& into, std::uint64_t needed) {
  const std::uint64_t available = fs::space(into).available;
  if (needed > available)
    throw UsageError(fmt::format("{} has {} bytes left, and the data set has {}", into.string(),
                                 available, needed),
                     "give --stage-to a folder with more space, or leave it out");
}

/// The standard library's function would tell of a full disk as of an input/output error.
void copy_file(const fs::path& from, const fs::path& to, std::uint64_t bytes) {
  const auto fail = [&](const std::string& message) {
    throw std::runtime_error(
        fmt::format("cannot copy {} to {}: {}", from.string(), to.string(), message));
  };
  const Descriptor source = open_path(from.string(), O_RDONLY);
  if (source.get() < 0)
    fail(message_of(errno));
  const Descriptor target = open_path(to.string(), O_WRONLY | O_CREAT | O_EXCL);
  if (target.get() < 0)
    fail(message_of(errno));
  constexpr std::uint64_t most_at_once = 1 << 22;
  std::vector<char> buffer(std::clamp<std::uint64_t>(bytes, 1, most_at_once));
  std::uint64_t copied = 0;
  for (ssize_t count; (count = ::read(source.get(), buffer.data(), buffer.size())) != 0;) {
    if (count < 0)
      fail(message_of(errno));
    for (std::string_view left(buffer.data(), static_cast<std::size_t>(count)); !left.empty();) {
      const ssize_t written = ::write(target.get(), left.data(), left.size());
      if (written < 0)
        fail(message_of(errno));
      left.remove_prefix(static_cast<std::size_t>(written));
    }
    copied += static_cast<std::uint64_t>(count);
  }
  if (copied != bytes)
    fail("it changed meanwhile");
}

void copy_files(const fs::path& from, const FileList& list, const std::vector<Entry>& entries,
                const fs::path& copy, int threads) {
  for (const std::string& folder : list.folders)
    fs::create_directories(copy / folder);
  for_each_index(entries.size(), threads, [&](std::size_t i) {
    copy_file(from / list.files[i], copy / list.files[i], entries[i].bytes);
  });
}

/// Waits for the only right to make this copy; held until the file is closed or this process ends.
void lock_file(const Descriptor& file, const fs::path& path) {
  if (file.get() < 0)
    throw UsageError(fmt::format("cannot make {}: {}", path.string(), message_of(errno)),
                     "give --stage-to a folder that can be written");
  while (::flock(file.get(), LOCK_EX) != 0)
    if (errno != EINTR)
      throw UsageError(fmt::format("cannot lock {}: {}", path.string(), message_of(errno)),
                       "give --stage-to a folder on storage of this node");
}

/// The deepest folder that all files lie in.
fs::path common_folder(const std::vector<fs::path>& files) {
  fs::path common = files.front().parent_path();
  for (const fs::path& file : files)
    while (std::ranges::mismatch(common, file).in1 != common.end())
      common = common.parent_path();
  return common;
}

}  // namespace

Staged stage(const std::string& from, const FileList& files, const std::string& into, int threads) {
  std::error_code failure;
  fs::create_directories(into, failure);
  if (failure)
    throw UsageError(fmt::format("cannot use {}: {}", into, failure.message()),
                     "give --stage-to a folder that can be written");
  const fs::path source = fs::canonical(from);
  const std::vector<Entry> entries = entries_of(source, files, threads);
  const fs::path copy = fs::path(into) / copy_name(source, files, entries);
  const std::string lock_name = copy.string() + ".lock";
  const Descriptor lock = open_path(lock_name, O_RDONLY | O_CREAT);
  lock_file(lock, lock_name);
  if (is_complete(copy, files, entries))
    return {.folder = copy.string()};

  fs::remove_all(copy);
  PartialCopy partial(copy.string() + ".partial");
  std::uint64_t bytes = 0;
  for (const Entry& entry : entries)
    bytes += entry.bytes;
  check_space(into, bytes);
  copy_files(source, files, entries, partial.path(), threads);
  partial.complete(copy);
  return {.folder = copy.string(), .copied_bytes = bytes};
}

StagedFiles stage_files(const std::vector<std::string>& files, const std::string& into,
                        int threads) {
  std::vector<fs::path> paths;
  for (const std::string& file : files)
    paths.push_back(fs::absolute(file).lexically_normal());
  const fs::path from = common_folder(paths);
  FileList list;
  for (const fs::path& path : paths) {
    const fs::path name = path.lexically_relative(from);
    fs::path folder;
    for (const fs::path& part : name.parent_path())
      if (folder /= part; std::ranges::count(list.folders, folder.string()) == 0)
        list.folders.push_back(folder.string());
    list.files.push_back(name.string());
  }
  const Staged staged = stage(from.string(), list, into, threads);
  StagedFiles result{.folder = staged.folder, .copied_bytes = staged.copied_bytes};
  for (const std::string& file : list.files)
    result.files.push_back((fs::path(staged.folder) / file).string());
  return result;
}

}  // namespace bench::steps
