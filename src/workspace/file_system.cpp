#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/vfs.h>

#include <bench/base/below.hpp>
#include <bench/base/error.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/workspace/file_system.hpp>

namespace bench::workspace {

bool on_local_file_system(const std::filesystem::path& directory) {
  // Magic numbers of statfs(2): ext, xfs, btrfs, tmpfs, overlayfs, f2fs, zfs, bcachefs.
  constexpr std::array<std::uint32_t, 8> local{0xEF53,     0x58465342, 0x9123683E, 0x01021994,
                                               0x794C7630, 0xF2F52010, 0x2FC12FC1, 0xCA451A4E};
  struct statfs info {};
  if (::statfs(directory.c_str(), &info) != 0)
    return false;
  return std::find(local.begin(), local.end(), static_cast<std::uint32_t>(info.f_type)) !=
         local.end();
}

bool has_locks(const std::filesystem::path& run_directory) {
  // Of the database only where there is nothing else to ask: whoever closes any descriptor of a
  // file gives up the locks that SQLite holds on it in this process (fcntl(2)).
  for (const char* name : {"workspace.lock", "workspace.db"})
    if (const UniqueFd fd = open_regular_file(run_directory / name); fd.valid()) {
      struct flock asked {};
      asked.l_type = F_RDLCK;
      asked.l_whence = SEEK_SET;
      return ::fcntl(fd.get(), F_GETLK, &asked) == 0;
    }
  return true;
}

void check_path_length(const std::filesystem::path& file) {
  constexpr std::string_view longest_suffix = "-journal";
  const auto most =
      static_cast<std::size_t>(::sqlite3_vfs_find(nullptr)->mxPathname) - longest_suffix.size();
  std::error_code unknown;
  const auto length = std::filesystem::weakly_canonical(file, unknown).string().size();
  if (length > most)
    throw Error(Id::too_large,
                fmt::format("the path of {} has {} bytes, and SQLite takes at most {}",
                            file.string(), length, most),
                "select a directory with a shorter path, as with --outpath");
}

}  // namespace bench::workspace
