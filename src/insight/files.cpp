#include "check_functions.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/core.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/insight/checks.hpp>
#include <bench/workspace/file_system.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* elsewhere = "use another directory with --outpath";

std::string name_of(const System& system) {
  std::error_code unknown;
  const fs::path path = fs::canonical(system.directory, unknown);
  return unknown ? system.directory.string() : path.string();
}

/// A temporary directory beside the runs, deleted with this object.
class Scratch {
 public:
  explicit Scratch(const System& system)
      : path_(system.directory / fmt::format(".bench-doctor-{}", ::getpid())) {
    std::error_code failed;
    fs::create_directory(path_, failed);
    if (failed)
      throw Error(
          fmt::format("cannot create a directory in {}: {}", name_of(system), failed.message()),
          elsewhere);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code failed;
    fs::remove_all(path_, failed);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Magic numbers of statfs(2) and, of those that Linux does not have, of their projects.
std::string name_of_file_system(const fs::path& directory) {
  struct Kind {
    std::uint32_t magic;
    const char* name;
  };
  constexpr std::array<Kind, 19> kinds{{{0xEF53, "ext4"},
                                        {0x58465342, "xfs"},
                                        {0x9123683E, "btrfs"},
                                        {0x01021994, "tmpfs"},
                                        {0x794C7630, "overlay"},
                                        {0xF2F52010, "f2fs"},
                                        {0x2FC12FC1, "zfs"},
                                        {0xCA451A4E, "bcachefs"},
                                        {0x6969, "NFS"},
                                        {0x0BD00BD0, "Lustre"},
                                        {0x47504653, "GPFS"},
                                        {0x19830326, "BeeGFS"},
                                        {0x00C36400, "CephFS"},
                                        {0xAAD7AAEA, "PanFS"},
                                        {0x65735546, "FUSE"},
                                        {0xFF534D42, "CIFS"},
                                        {0xFE534D42, "SMB2"},
                                        {0x01021997, "9p"},
                                        {0x7C7C6673, "DVS"}}};
  struct statfs info {};
  if (::statfs(directory.c_str(), &info) != 0)
    throw Error::of_system("cannot determine the file system of " + directory.string(), errno,
                           elsewhere);
  const auto magic = static_cast<std::uint32_t>(info.f_type);
  for (const Kind& kind : kinds)
    if (kind.magic == magic)
      return kind.name;
  return fmt::format("unknown ({:#x})", magic);
}

std::string gigabytes(double bytes) {
  return fmt::format("{:.{}f} GB", bytes / 1e9, bytes < 10e9 ? 1 : 0);
}

}  // namespace

Findings check_file_system(const System& system) {
  const bool local = workspace::on_local_file_system(system.directory);
  return {{"", Health::ok,
           fmt::format("{} is {}{}", name_of(system), name_of_file_system(system.directory),
                       local ? "" : ", not on a disk of this machine"),
           ""}};
}

Findings check_space(const System& system) {
  struct statvfs info {};
  if (::statvfs(system.directory.c_str(), &info) != 0)
    throw Error::of_system("cannot determine the free space", errno, elsewhere);
  constexpr double least_bytes = 1e9;
  constexpr double least_files = 10'000;
  const double bytes = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize);
  const auto files = static_cast<double>(info.f_favail);
  const bool counts_files = info.f_files > 0;  // some create inodes on demand
  std::string text = gigabytes(bytes) + " free";
  if (counts_files)
    text += fmt::format(", room for {:.0f} files", files);
  if (bytes < least_bytes || (counts_files && files < least_files))
    return {{"", Health::warning, text,
             "a workpackage needs a dozen files: remove old runs (`bench remove`), or put new ones "
             "in another directory with --outpath"}};
  return {{"", Health::ok, text, ""}};
}

Findings check_locks(const System& system) {
  const Scratch scratch(system);
  const workspace::WriterLock lock(scratch.path());
  if (workspace::WriterLock::take_if_free(scratch.path()))
    return {
        {"", Health::error, "file locks do not work here: a second process gets the same lock",
         fmt::format("two bench processes could write to the same run: {}, or have the file system "
                     "mounted with locks (Lustre: -o flock)",
                     elsewhere)}};
  return {{"", Health::ok, "files can be locked", ""}};
}

Findings check_database(const System& system) {
  const Scratch scratch(system);
  const std::string written = "doctor";
  workspace::Workspace::create(scratch.path(), {{"benchmark", written}});
  const auto reader =
      workspace::Workspace::open(scratch.path(), workspace::Workspace::Access::read);
  if (reader.fact("benchmark") != written)
    return {{"", Health::error, "SQLite cannot read back what it wrote", elsewhere}};
  return {{"", Health::ok,
           workspace::on_local_file_system(scratch.path())
               ? "SQLite works, with a write-ahead log"
               : "SQLite works, with a rollback journal: a write-ahead log needs a local disk",
           ""}};
}

Findings check_small_files(const System& system) {
  using Clock = std::chrono::steady_clock;
  constexpr int wanted = 100;
  constexpr double most_s = 5;
  constexpr double slow_s = 1;
  const Scratch scratch(system);
  const std::string content(1024, 'x');
  const auto begin = Clock::now();
  const auto passed_s = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  int count = 0;
  for (; count < wanted && passed_s() < most_s; ++count)
    write_file_atomically(scratch.path() / std::to_string(count), content);
  const double time_s = passed_s();
  const std::string text = fmt::format("{} files of 1 KiB in {:.3f} s", count, time_s);
  if (time_s > slow_s)
    return {{"", Health::warning, text,
             fmt::format("a run creates a dozen files per workpackage: {}", elsewhere)}};
  return {{"", Health::ok, text, ""}};
}

}  // namespace bench::doctor
