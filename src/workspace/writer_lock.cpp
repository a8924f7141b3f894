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
WriterLock::WriterLock(const std::filesystem::path& run_directory) {
  const std::filesystem::path file = run_directory / "workspace.lock";
  fd_ = UniqueFd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd_.valid())
    throw Error(fmt::format("cannot open {}: {}", file.string(), std::strerror(errno)),
                "this run can be read, but not continued, by you");
  if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      throw Error(fmt::format("cannot lock {}: {}", file.string(), std::strerror(errno)));
    throw Error(fmt::format("another bench is working on {}: {}", run_directory.string(),
                            strip(read_file(file))),
                "wait for it; `bench status` and `bench result` work meanwhile");
  }
  const std::string holder =
      fmt::format("process {} on {}, since {}\n", ::getpid(), host_name(), local_time_now());
  if (::ftruncate(fd_.get(), 0) != 0 ||
      ::pwrite(fd_.get(), holder.data(), holder.size(), 0) != static_cast<ssize_t>(holder.size()))
    throw Error(fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
}

}  // namespace bench::workspace
