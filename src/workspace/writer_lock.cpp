#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/host.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::workspace {
namespace {

std::filesystem::path lock_file(const std::filesystem::path& run_directory) {
  return run_directory / "workspace.lock";
}

/// The locked file with the holder's name in it; an invalid one if another process has it.
UniqueFd lock(const std::filesystem::path& file) {
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd.valid())
    throw Error(fmt::format("cannot open {}: {}", file.string(), std::strerror(errno)),
                "this run can be read, but not continued, by you");
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      throw Error(fmt::format("cannot lock {}: {}", file.string(), std::strerror(errno)));
    return {};
  }
  const std::string holder =
      fmt::format("process {} on {}, since {}\n", ::getpid(), host_name(), local_time_now());
  if (::ftruncate(fd.get(), 0) != 0 ||
      ::pwrite(fd.get(), holder.data(), holder.size(), 0) != static_cast<ssize_t>(holder.size()))
    throw Error(fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
  return fd;
}

}  // namespace

WriterLock::WriterLock(const std::filesystem::path& run_directory)
    : fd_(lock(lock_file(run_directory))) {
  if (!fd_.valid())
    throw Error(fmt::format("another bench is working on {}: {}", run_directory.string(),
                            strip(read_file(lock_file(run_directory)))),
                "wait for it; `bench status` and `bench result` work meanwhile");
}

std::optional<WriterLock> WriterLock::take_if_free(const std::filesystem::path& run_directory) {
  UniqueFd fd = lock(lock_file(run_directory));
  if (!fd.valid())
    return std::nullopt;
  return WriterLock(std::move(fd));
}

}  // namespace bench::workspace
