#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/host.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::workspace {
namespace {

std::filesystem::path lock_file(const std::filesystem::path& run_directory) {
  return run_directory / "workspace.lock";
}

std::string name_of_this_process() {
  return fmt::format("process {} on {}, since {}\n", ::getpid(), host_name(),
                     local_time_at(unix_time_now()));
}

/// Whether the holder that has left its name in the file is a process of this host that has ended.
bool has_ended(const std::string& holder) {
  const auto words = split_names(holder, " ");
  if (words.size() < 4 || words[0] != "process" || words[3] != host_name() + ",")
    return false;
  const auto pid = parse_integer(words[1]);
  return pid && !is_alive(static_cast<int>(*pid));
}

/// Takes the lock without waiting for another bench. That of a bench which was killed goes with it,
/// but for a child that it was just starting: until its program begins, this has every descriptor
/// of its parent. For that much, 10 s at most, it waits: only then can the child be told for one.
/// @returns 0, or the number of the error: EWOULDBLOCK if another process has it
int take(int fd, const std::filesystem::path& file) {
  for (int round = 0; ::flock(fd, LOCK_EX | LOCK_NB) != 0; ++round) {
    if (errno != EWOULDBLOCK)
      return errno;
    if (round == 5000 || !has_ended(end_of_file(open_regular_file(file), 1).text))
      return EWOULDBLOCK;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return 0;
}

/// The locked file with the holder's name in it; an invalid one if another process has it.
UniqueFd lock(const std::filesystem::path& file) {
  refuse_run_of_jube(file.parent_path());
  // Not through a link: what it leads to would be overwritten.
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd.valid())
    throw Error::of_system(fmt::format("cannot open {}", file.string()), errno,
                           "this run can be read, but not continued, by you");
  if (const int why = take(fd.get(), file); why != 0) {
    if (why == EWOULDBLOCK)
      return {};
    struct stat info {};
    if (::fstat(fd.get(), &info) == 0 && info.st_size == 0)
      ::unlink(file.c_str());  // just made: a run that cannot begin leaves nothing behind
    throw Error(Id::system_error,
                fmt::format("cannot lock {}: {}", file.string(), std::strerror(why)),
                "a file system without locks, such as Lustre mounted without `-o flock`, can hold "
                "runs to look at, but none is made or continued there; choose another outpath");
  }
  const std::string holder = name_of_this_process();
  // The name is only a message for others. On a full disk it is missing, so that `bench remove`
  // can make room there.
  if ((::ftruncate(fd.get(), 0) != 0 || ::pwrite(fd.get(), holder.data(), holder.size(), 0) < 0) &&
      errno != ENOSPC && errno != EDQUOT)
    throw Error(Id::system_error,
                fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
  return fd;
}

/// Whether a process of this host has a lock on the file with this inode. That another file system
/// has the same inode locked is unlikely, and only makes a message wrong.
bool is_locked_here(ino_t inode) {
  const std::string end = fmt::format(":{}", inode);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);)
    for (const std::string& word : split_names(line, " "))
      if (line.find("FLOCK") != std::string::npos && word.ends_with(end))
        return true;
  return false;
}

}  // namespace

WriterLock::WriterLock(const std::filesystem::path& run_directory)
    : WriterLock(lock(lock_file(run_directory))) {
  if (file_->valid())
    return;
  const std::string holder = end_of_file(open_regular_file(lock_file(run_directory)), 1).text;
  throw Error(Id::in_use,
              fmt::format("another bench is working on {}{}{}", run_directory.string(),
                          holder.empty() ? "" : ": ", holder),
              "wait for it; `bench status` and `bench result` work meanwhile");
}

void WriterLock::Release::operator()(UniqueFd* file) const {
  const std::unique_ptr<UniqueFd> closed_after(file);
  // Not an empty file, which is one that was just made. A name that stays harms nobody.
  [[maybe_unused]] const bool is_out =
      file->valid() && ::pwrite(file->get(), "\n", 1, 0) == 1 && ::ftruncate(file->get(), 1) == 0;
}

std::optional<WriterLock> WriterLock::take_if_free(const std::filesystem::path& run_directory) {
  if (!has_locks(run_directory) || is_made_by_jube(run_directory))
    return std::nullopt;
  UniqueFd fd = lock(lock_file(run_directory));
  if (!fd.valid())
    return std::nullopt;
  return WriterLock(std::move(fd));
}

std::optional<Worker> worker_of(const std::filesystem::path& run_directory) {
  const std::filesystem::path file = lock_file(run_directory);
  const UniqueFd fd = open_below(run_directory, file);
  struct stat info {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0)
    return std::nullopt;
  Worker worker{.name = std::string(strip(read_all(fd, file)))};
  const bool is_named = !worker.name.empty();
  if (is_named && worker.name.find(" on " + host_name() + ", since") == std::string::npos)
    return worker;
  // Trying the lock would keep another bench from taking it just then; the kernel lists it.
  worker.sure = is_locked_here(info.st_ino);
  if (!is_named)
    worker.name = fmt::format("a process on {}", host_name());
  return worker.sure ? std::optional(worker) : std::nullopt;
}

}  // namespace bench::workspace
