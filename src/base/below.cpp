#include <algorithm>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <bench/base/below.hpp>
#include <bench/base/error.hpp>

namespace bench {
namespace {

namespace fs = std::filesystem;

bool begins_with(const fs::path& path, const fs::path& directory) {
  return std::mismatch(directory.begin(), directory.end(), path.begin(), path.end()).first ==
         directory.end();
}

/// Absolute, without `.` and `..`, and without the slash at the end of a directory.
fs::path written(const fs::path& path) {
  const fs::path normal = fs::absolute(path).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

}  // namespace

UniqueFd open_regular_file(const fs::path& file) {
  // Looked at first, since to open a device can do something; and again once it is open, since it
  // may have been replaced. O_NONBLOCK: a pipe that nobody writes to is opened all the same.
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
  const fs::path real = fs::read_symlink(fmt::format("/proc/self/fd/{}", fd.get()), failed);
  if (failed || !begins_with(real, root))
    return {};
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
  if (failed || !begins_with(real, fs::weakly_canonical(directory)))
    throw Error(fmt::format("{} leads out of {} through a link", path.string(), directory.string()),
                "bench writes and deletes through no link that leads out of a run directory");
}

}  // namespace bench
